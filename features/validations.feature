Feature: Validating what a plan made
  A validation is a command or a tool that looks. It is attached to a resource, and runs at the end of execute; what it
  found decides whether the plan may be applied.

  Background:
    Given an empty data directory
    And plans may run commands on this machine
    And a git repository "shop-code"
    And the file "greeter.yaml":
      """
      name: greeter
      type: tool
      description: Writes a greeting
      steps:
        - { id: write, tool: write_file, params: { path: hello.txt, content: "hello\n" } }
      """
    And the file "greet.yaml":
      """
      name: greet
      description: Greet everybody
      definition_of_done: The greeting is there
      execution_actor: local/greeter
      """
    And the file "greets.yaml":
      """
      name: greets
      description: The greeting has a name
      command: grep hello hello.txt
      """
    And the file "polite.yaml":
      """
      name: polite
      description: The greeting is polite
      command: grep please hello.txt || { echo not polite; exit 1; }
      """
    When I run "agents actor add --config greeter.yaml"
    And I run "agents action create --config greet.yaml"
    And I run "agents resource add git-checkout api --path shop-code"
    And I run "agents project create shop --resource api"
    And a plan of "greet" for "shop"
    And I run "agents validation add --config greets.yaml"
    And I run "agents validation add --config polite.yaml"

  Scenario: A passed validation lets the plan through
    When I run "agents validation attach api greets"
    And I run "agents plan execute <plan>"
    Then it succeeds
    And the output contains "passed"
    When I run "agents plan status <plan>"
    Then the output contains "1 of 1 validation passed"

  Scenario: A failed validation is shown and stops the apply, and the work is kept
    When I run "agents validation attach api polite --plan <plan>"
    And I run "agents plan execute <plan>"
    Then it succeeds
    And the output contains "not polite"
    And the output contains "The plan cannot be applied like this."
    When I run "agents plan status <plan> --format json"
    Then the data's "state" is "complete"
    When I run "agents plan status <plan>"
    Then the output contains "Required validations failed: local/polite (api)."

  Scenario: A validation that is attached too late has not validated anything
    When I run "agents plan execute <plan>"
    And I run "agents validation attach api greets --project shop"
    And I run "agents plan status <plan>"
    Then the output contains "Required validations not run: local/greets (api)."

  Scenario: One that only informs never stands in the way
    Given the file "hint.yaml":
      """
      name: hint
      description: Is not needed
      mode: informational
      tool: read_file
      params: { path: missing.txt }
      """
    When I run "agents validation add --config hint.yaml"
    And I run "agents validation attach api hint"
    And I run "agents plan execute <plan>"
    Then it succeeds
    And the output contains "failed"
    When I run "agents plan status <plan>"
    Then the output contains "0 of 1 validation passed; the rest need not"

  Scenario: An attached validation is not removed
    When I run "agents validation attach api greets"
    And I run "agents validation remove greets --yes"
    Then it fails with exit code 4
    And the error contains "is attached to local/api"

  Scenario: A file with a mistake is refused with its place
    Given the file "wrong.yaml":
      """
      name: wrong
      description: Writes
      tool: write_file
      """
    When I run "agents validation add --config wrong.yaml"
    Then it fails with exit code 2
    And the error contains "wrong.yaml:3:1: tool: "write_file" may change files, and a validation must not"

  Scenario: The repository's own hooks are asked first
    Given the hook "pre-commit" of "shop-code":
      """
      echo "no greetings today"; exit 1
      """
    When I run "agents plan execute <plan>"
    Then it fails with exit code 1
    And the error contains "no greetings today"
    When I run "agents plan execute <plan> --no-verify"
    Then it succeeds
