Feature: Tool actors from the command line
  An actor that needs no model is a file of tool calls. Actions name it; plans are made of those actions.

  Background:
    Given an empty data directory
    And the file "greeter.yaml":
      """
      name: local/greeter
      type: tool
      description: Writes a greeting and upper-cases it
      steps:
        - { id: write, tool: write_file, params: { resource: api, path: "docs/{file}.txt", content: "hello {who}\n" } }
        - { id: shout, tool: shell_execute, params: { resource: api, command: "tr a-z A-Z < docs/{file}.txt > docs/LOUD.txt" }, needs: [write] }
      """
    And the file "greet.yaml":
      """
      name: greet
      description: Greet {who}
      definition_of_done: docs/LOUD.txt greets {who}
      execution_actor: local/greeter
      arguments:
        - { name: who, required: true }
        - { name: file, default: hello }
      """

  Scenario: From a file to a plan, without any model
    When I run "agents actor add --config greeter.yaml"
    Then it succeeds
    And the output contains "Actor local/greeter added."
    When I run "agents actor list --format json"
    Then the data has 1 "actors"
    When I run "agents actor show greeter --format json"
    Then the data has 2 "steps"
    And the data has 2 "waves"
    Given the action in "greet.yaml" and the project "shop"
    When I run "agents plan use greet shop --arg who=you"
    Then it succeeds
    And the output contains "Greet you"

  Scenario: An actor may not use what the action does not declare
    Given the file "poor.yaml":
      """
      name: poor
      description: Greet
      definition_of_done: Done
      execution_actor: local/greeter
      """
    And the action in "poor.yaml" and the project "shop"
    When I run "agents actor add --config greeter.yaml"
    And I run "agents plan use poor shop"
    Then it fails with exit code 2
    And the error contains "uses {file}, {who}, which the action "local/poor" does not declare"
    When I run "agents plan list --format json"
    Then the data has 0 "plans"

  Scenario: Steps that wait for each other are refused by name
    Given the file "knot.yaml":
      """
      name: knot
      type: tool
      description: Never begins
      steps:
        - { id: hen, tool: git_status, needs: [egg] }
        - { id: egg, tool: git_status, needs: [hen] }
      """
    When I run "agents actor add --config knot.yaml"
    Then it fails with exit code 2
    And the error contains "knot.yaml:5:34: steps.0.needs: the steps wait for each other: hen → egg → hen"

  Scenario: An actor that an action uses is not removed
    Given the action in "greet.yaml" and the project "shop"
    When I run "agents actor add --config greeter.yaml"
    And I run "agents actor remove greeter --yes"
    Then it fails with exit code 4
    And the error contains "used by the action local/greet"
    When I run "agents action archive greet"
    And I run "agents actor remove greeter --yes"
    Then it succeeds

  Scenario: Of many who add one actor at once one wins
    When I run "agents init"
    And 4 processes at once run "agents actor add --config greeter.yaml"
    Then one of them succeeds and 3 exit with code 4
