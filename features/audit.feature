Feature: The audit log
  Background:
    Given an empty data directory
    And the file "fix.yaml":
      """
      name: fix-bug
      description: Fix it
      definition_of_done: Done
      execution_actor: openai/gpt-4o
      """
    And the action in "fix.yaml" and the project "shop"
    And a plan of "fix-bug" for "shop"

  Scenario: An untouched log verifies, and an earlier head stays part of it
    When I run "agents audit verify --format json"
    Then it succeeds
    And I keep the data's "head"
    When I run "agents plan cancel <plan>"
    And I run "agents audit verify --expect <head>"
    Then it succeeds

  Scenario: A changed entry is named
    Given a person changes an audit entry of the plan from outside
    When I run "agents audit verify --format json"
    Then it fails with exit code 1
    And the error code is "AUDIT_BROKEN"
    And the error's detail "chain" is the plan

  Scenario: A log whose end was cut off is noticed
    Given a person removes the plan's last audit entry from outside
    When I run "agents audit verify"
    Then it fails with exit code 1
