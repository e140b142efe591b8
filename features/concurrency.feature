Feature: Two terminals, a background process and a CI job use the same data
  Background:
    Given an empty data directory

  Scenario: The first commands of several processes on an empty data directory all succeed
    When 4 processes at once run "agents init"
    Then all of them succeed

  Scenario: One name, several creators
    Given the file "fix.yaml":
      """
      name: fix-bug
      description: Fix it
      definition_of_done: Done
      execution_actor: openai/gpt-4o
      """
    When 4 processes at once run "agents action create --config fix.yaml"
    Then one of them succeeds and 3 exit with code 4

  Scenario: Different settings set at the same time both survive
    When these run at once:
      | agents config set core.format plain          |
      | agents config set core.automation-profile ci |
      | agents config set core.user alice            |
    Then all of them succeed
    When I run "agents config list --format json"
    Then the setting "core.format" is "plain"
    And the setting "core.automation-profile" is "ci"
    And the setting "core.user" is "alice"
