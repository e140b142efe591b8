Feature: Resources from the command line
  A project says which directories and repositories its plans work on.

  Background:
    Given an empty data directory
    And the file "notes.txt":
      """
      Only a file.
      """

  Scenario: A directory becomes part of a project
    When I run "agents resource add fs-directory files --path ."
    Then it succeeds
    When I run "agents project create shop --resource files"
    Then it succeeds
    When I run "agents project show shop"
    Then the output contains "local/files"
    When I run "agents resource list --format json"
    Then the envelope's command is "resource list"
    And the data has 1 "resources"

  Scenario: A missing path is refused before anything is written
    When I run "agents resource add fs-directory files --path notes.txt"
    Then it fails with exit code 2
    And the error contains "is not a directory"
    When I run "agents resource add git-chekout files --path ."
    Then it fails with exit code 2
    And the error contains "did you mean "git-checkout"?"
    When I run "agents resource add git-checkout files --path ."
    Then it fails with exit code 2
    And the error contains "is not in a git repository"
    When I run "agents project create shop --resource files"
    Then it fails with exit code 3
    When I run "agents project list --format json"
    Then the data has 0 "projects"

  Scenario: A resource that a project has is not removed by accident
    When I run "agents resource add fs-directory files --path ."
    And I run "agents project create shop"
    And I run "agents project link-resource shop files --alias all"
    And I run "agents resource remove files --yes"
    Then it fails with exit code 4
    And the error contains "agents project unlink-resource local/shop local/files"
    When I run "agents project unlink-resource shop all"
    Then it succeeds
    When I run "agents resource remove files --yes"
    Then it succeeds

  Scenario: Deleting a project leaves its resources
    When I run "agents resource add fs-directory files --path ."
    And I run "agents project create shop --resource files"
    And I run "agents project delete shop --yes"
    Then the output contains "1 resource unlinked"
    When I run "agents resource list --format json"
    Then the data has 1 "resources"

  Scenario: Of many who add one name one wins
    When 4 processes at once run "agents resource add fs-directory files --path ."
    Then one of them succeeds and 3 exit with code 4
