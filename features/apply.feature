Feature: Applying a plan
  What a plan did in its sandboxes lands in every resource, or in none of them.

  Background:
    Given an empty data directory
    And a git repository "shop-code"
    And a directory "shop-notes" with "open\n" in "todo.txt"
    And the file "greeter.yaml":
      """
      name: greeter
      type: tool
      description: Writes a greeting and notes it
      steps:
        - { id: write, tool: write_file, params: { resource: api, path: "docs/hello.txt", content: "hello\n" } }
        - { id: edit, tool: edit_file, params: { resource: api, path: README, old: hello, new: welcome } }
        - { id: note, tool: edit_file, params: { resource: notes, path: todo.txt, old: open, new: done } }
      """
    And the file "greet.yaml":
      """
      name: greet
      description: Greet everybody
      definition_of_done: The greeting is there
      execution_actor: local/greeter
      """
    When I run "agents actor add --config greeter.yaml"
    And I run "agents action create --config greet.yaml"
    And I run "agents resource add git-checkout api --path shop-code"
    And I run "agents resource add fs-directory notes --path shop-notes"
    And I run "agents project create shop --resource api --resource notes"
    And a plan of "greet" for "shop"
    And I run "agents plan execute <plan>"

  Scenario: The changes land in the repository and in the directory
    Then the file "shop-code/README" holds "hello\n"
    When I run "agents plan apply <plan> --yes"
    Then it succeeds
    And the output contains "is applied: 3 files"
    And the file "shop-code/docs/hello.txt" holds "hello\n"
    And the file "shop-code/README" holds "welcome\n"
    And the file "shop-notes/todo.txt" holds "done\n"
    And git finds "shop-code" clean
    And "shop-code" has 2 commits
    When I run "agents plan status <plan>"
    Then the output contains "agents plan undo"

  Scenario: Nothing lands without being asked for
    When I run "agents plan apply <plan>"
    Then it fails with exit code 2
    And the file "shop-code/README" holds "hello\n"

  Scenario: A person was there first: nothing changes, and the plan continues when that is resolved
    When a person writes "bought\n" into "shop-notes/todo.txt"
    And I run "agents plan apply <plan> --yes"
    Then it fails with exit code 4
    And the error contains "notes/todo.txt was changed on both sides"
    And the error contains "Nothing was changed, in any resource."
    And "shop-code" has 1 commit
    And the file "shop-code/README" holds "hello\n"
    And the file "shop-notes/todo.txt" holds "bought\n"
    When a person writes "open\n" into "shop-notes/todo.txt"
    And I run "agents plan apply <plan> --yes"
    Then it succeeds

  Scenario: Several processes apply one plan once
    When 3 processes at once run "agents plan apply <plan> --yes"
    Then one of them succeeds and 2 exit with code 4
    And "shop-code" has 2 commits
