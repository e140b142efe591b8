Feature: Holding plans back
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
        - { id: write, tool: write_file, params: { path: docs/world.txt, content: "hello\n" } }
        - { id: shout, tool: shell_execute, params: { command: "tr a-z A-Z < docs/world.txt > docs/LOUD.txt" } }
      """
    And the file "greet.yaml":
      """
      name: greet
      description: Greet everybody
      definition_of_done: The greeting is there
      execution_actor: local/greeter
      automation_profile: careful
      """

  Scenario: A denied tool does not run, and nothing it would have done is there
    Given the file "careful.yaml":
      """
      name: careful
      description: Never the shell
      extends: trusted
      require_confinement: false
      guards: { tool_denylist: ["shell_*"] }
      """
    When I run "agents automation-profile add --config careful.yaml"
    And I run "agents actor add --config greeter.yaml"
    And I run "agents action create --config greet.yaml"
    And I run "agents resource add git-checkout api --path shop-code"
    And I run "agents project create shop --resource api"
    And a plan of "greet" for "shop"
    And I run "agents plan execute <plan>"
    Then it fails with exit code 1
    And the error contains "tool_denylist"
    When I run "agents plan explain <plan> shout --format json"
    Then the output contains "tool_denylist"
    When I run "agents plan guard <plan>"
    Then the output contains "refused:"
    When I run "agents audit verify"
    Then it succeeds

  Scenario: The first approval counts, and the plan is applied only then
    Given the file "careful.yaml":
      """
      name: careful
      description: A person looks at the result
      extends: trusted
      require_human_approval: true
      require_confinement: false
      """
    When I run "agents automation-profile add --config careful.yaml"
    And I run "agents actor add --config greeter.yaml"
    And I run "agents action create --config greet.yaml"
    And I run "agents resource add git-checkout api --path shop-code"
    And I run "agents project create shop --resource api"
    And a plan of "greet" for "shop"
    And I run "agents plan execute <plan>"
    And I run "agents plan apply <plan> --yes"
    Then it fails with exit code 1
    And the error contains "A person has to approve"
    When 4 processes at once run "agents plan guard <plan> --allow-apply"
    Then one of them succeeds and 3 exit with code 4
    When I run "agents plan apply <plan> --yes"
    Then it succeeds
    And the file "shop-code/docs/LOUD.txt" holds "HELLO\n"
