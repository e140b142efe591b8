Feature: Plans from the command line
  Everything a user does goes through `agents`, each time in a new process.

  Background:
    Given an empty data directory
    And the file "fix.yaml":
      """
      name: fix-bug
      description: Fix issue {issue}
      definition_of_done: The test for issue {issue} passes
      execution_actor: openai/gpt-4o
      arguments:
        - name: issue
          type: integer
          required: true
          min: 1
      """

  Scenario: From nothing to a plan
    When I run "agents init"
    And I run "agents action create --config fix.yaml"
    And I run "agents project create shop"
    And I run "agents plan use fix-bug shop --arg issue=42"
    Then it succeeds
    And the output contains "Fix issue 42"
    When I run "agents plan list --format json"
    Then the envelope's command is "plan list"
    And the data has 1 "plans"

  Scenario: Wrong arguments are all reported at once and nothing is written
    Given the action in "fix.yaml" and the project "shop"
    When I run "agents plan use fix-bug shop --arg isue=1"
    Then it fails with exit code 2
    And the error contains "missing required argument"
    And the error contains "unknown argument"
    And the error contains "did you mean "issue"?"
    When I run "agents plan list --format json"
    Then the data has 0 "plans"

  Scenario: A plan is cancelled once
    Given the action in "fix.yaml" and the project "shop"
    And a plan of "fix-bug" for "shop" with "issue=1"
    When I run "agents plan cancel <plan> --reason 'not needed'"
    Then it succeeds
    When I run "agents plan cancel <plan>"
    Then it fails with exit code 4
    And the error contains "cannot be cancelled"

  Scenario: An unknown plan is not found
    When I run "agents plan status 01ARZ3NDEKTSV4RRFFQ69G5FAV"
    Then it fails with exit code 3

  Scenario: A plan may be named by the beginning of its id
    Given the action in "fix.yaml" and the project "shop"
    And a plan of "fix-bug" for "shop" with "issue=1"
    When I run "agents plan status <plan:10>"
    Then it succeeds
    And the output contains "Fix issue 1"

  Scenario: A mistyped command gets a suggestion
    When I run "agents plan lst"
    Then it fails with exit code 2
    And the error contains "did you mean "agents plan list"?"

  Scenario: A mistake in a file is shown where it is
    Given the file "bad.yaml":
      """
      name: fix-bug
      desciption: Fix it
      definition_of_done: Done
      execution_actor: openai/gpt-4o
      """
    When I run "agents action create --config bad.yaml"
    Then it fails with exit code 2
    And the error contains "bad.yaml:2:1: desciption: unknown key"
    And the error contains "did you mean "description"?"

  Scenario: A project with active plans is not deleted by accident
    Given the action in "fix.yaml" and the project "shop"
    And a plan of "fix-bug" for "shop" with "issue=1"
    When I run "agents project delete shop --yes"
    Then it fails with exit code 4
    When I run "agents project delete shop --force --yes"
    Then it succeeds
    When I run "agents plan status <plan> --format json"
    Then the data's "state" is "cancelled"
