Feature: Executing a plan in a sandbox
  Background:
    Given an empty data directory
    And plans may run commands on this machine
    And a git repository "shop-code"
    And the file "greeter.yaml":
      """
      name: greeter
      type: tool
      description: Writes a greeting and upper-cases it
      steps:
        - { id: write, tool: write_file, params: { path: "docs/{who}.txt", content: "hello {who}\n" } }
        - { id: shout, tool: shell_execute, params: { command: "tr a-z A-Z < docs/{who}.txt > docs/LOUD.txt" } }
      """
    And the file "fix.yaml":
      """
      name: greet
      description: Greet {who}
      definition_of_done: The greeting is there
      execution_actor: local/greeter
      arguments:
        - { name: who, required: true }
      """
    When I run "agents actor add --config greeter.yaml"
    And I run "agents action create --config fix.yaml"
    And I run "agents resource add git-checkout api --path shop-code"
    And I run "agents project create shop --resource api"
    And a plan of "greet" for "shop" with "who=world"

  Scenario: The result is shown and the repository is as it was
    When I run "agents plan execute <plan>"
    Then it succeeds
    And the output contains "2 files changed"
    When I run "agents plan diff <plan>"
    Then the output contains "+HELLO WORLD"
    When I run "agents plan execute <plan> --format json"
    Then it succeeds
    And the data's "state" is "complete"

  Scenario: Several processes execute one plan once
    When 3 processes at once run "agents plan execute <plan>"
    Then each of them succeeded or exits with code 4
    When I run "agents plan artifacts <plan> --format json"
    Then the data has 2 "artifacts"
