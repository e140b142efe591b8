Feature: Undoing an applied plan
  What a plan brought in can be taken out again; what everybody else did stays.

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
    And I run "agents plan apply <plan> --yes"

  Scenario: Out and in again
    When I run "agents plan undo <plan> --yes"
    Then it succeeds
    And there is no file "shop-code/docs/hello.txt"
    And the file "shop-code/README" holds "hello\n"
    And the file "shop-notes/todo.txt" holds "open\n"
    And git finds "shop-code" clean
    And "shop-code" has 3 commits
    When I run "agents plan undo <plan> --yes"
    Then it fails with exit code 4
    When I run "agents plan status <plan>"
    Then the output contains "agents plan redo"
    When I run "agents plan redo <plan> --yes"
    Then it succeeds
    And the file "shop-notes/todo.txt" holds "done\n"
    And the file "shop-code/docs/hello.txt" holds "hello\n"

  Scenario: One decision out, and the rest later
    When I run "agents plan undo <plan> --decision edit --yes"
    Then it succeeds
    And the file "shop-code/README" holds "hello\n"
    And the file "shop-code/docs/hello.txt" holds "hello\n"
    And the file "shop-notes/todo.txt" holds "done\n"
    When I run "agents plan status <plan>"
    Then the output contains "only edit"
    When I run "agents plan undo <plan> --decision edit --yes"
    Then it fails with exit code 4
    When I run "agents plan undo <plan> --yes"
    Then it succeeds
    And the file "shop-notes/todo.txt" holds "open\n"
    When I run "agents plan redo <plan> --yes"
    Then it succeeds
    And the file "shop-code/README" holds "welcome\n"

  Scenario: The work that others did meanwhile stays
    When a person commits "mine\n" as "docs/mine.txt" in "shop-code"
    And a person writes "mine\n" into "shop-notes/mine.txt"
    And I run "agents plan undo <plan> --yes"
    Then it succeeds
    And there is no file "shop-code/docs/hello.txt"
    And the file "shop-code/docs/mine.txt" holds "mine\n"
    And the file "shop-notes/mine.txt" holds "mine\n"

  Scenario: A person built on it: nothing changes
    When a person commits "hello and goodbye\n" as "docs/hello.txt" in "shop-code"
    And I run "agents plan undo <plan> --yes"
    Then it fails with exit code 4
    And the error contains "api/docs/hello.txt was changed on both sides"
    And the file "shop-code/docs/hello.txt" holds "hello and goodbye\n"
    And the file "shop-notes/todo.txt" holds "done\n"
    And "shop-code" has 3 commits
