Feature: Rolling a plan back to a checkpoint
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
    And the file "greet.yaml":
      """
      name: greet
      description: Greet {who}
      definition_of_done: The greeting is there
      execution_actor: local/greeter
      arguments:
        - { name: who, required: true }
      """
    When I run "agents actor add --config greeter.yaml"
    And I run "agents action create --config greet.yaml"
    And I run "agents resource add git-checkout api --path shop-code"
    And I run "agents project create shop --resource api"
    And a plan of "greet" for "shop" with "who=world"
    And I run "agents plan execute <plan>"

  Scenario: Every change leads back to a decision
    When I run "agents plan tree <plan>"
    Then it succeeds
    And the output contains "shell_execute"
    When I run "agents plan explain <plan> shout"
    Then the output contains "docs/LOUD.txt"
    And the output contains "1 tool call, 1 change."

  Scenario: Back to the beginning, and the same again
    When I run "agents plan rollback <plan> start --yes"
    Then it succeeds
    And the output contains "waiting to execute"
    When I run "agents plan diff <plan>"
    Then the output contains "No changes."
    When I run "agents plan execute <plan> --format json"
    Then it succeeds
    When I run "agents plan artifacts <plan> --format json"
    Then the data has 2 "artifacts"

  Scenario: Nothing happens without a yes, to an unknown checkpoint, or twice
    When I run "agents plan rollback <plan> --format json"
    Then the data has 3 "checkpoints"
    When I run "agents plan rollback <plan> start"
    Then it fails with exit code 2
    And the error contains "That undoes 2 decisions, 2 tool calls and changes to 2 files."
    When I run "agents plan rollback <plan> 0ZZZ --yes"
    Then it fails with exit code 3
    When 3 processes at once run "agents plan rollback <plan> start --yes"
    Then one of them succeeds and 2 exit with code 4

  Scenario: A cancelled plan stays as it is
    When I run "agents plan cancel <plan>"
    And I run "agents plan rollback <plan> start --yes --format json"
    Then it fails with exit code 4
    And the error code is "INVALID_TRANSITION"
