Feature: The work of many agents at once is neither lost nor mixed up
  Each scenario runs twice: on the product, where the race must have no effect, and on a double kept beside
  these scenarios that has the protection taken out, where the very same check must find the damage.

  @tdd_issue @tdd_issue_7120
  Scenario Outline: Changes recorded while other changesets start are credited to their own (<context>)
    Given <context> plan execution context
    When 3 executions start a changeset each and record 2 changes each, in many different orders
    Then changes are <verdict>

    Examples:
      | context   | verdict                        |
      | a         | each in the right changeset    |
      | an unsafe | sometimes in another changeset |

  @tdd_issue @tdd_issue_7120
  Scenario Outline: A change recorded while a changeset is being started is not put into the previous one (<context>)
    Given <context> plan execution context
    When a change is recorded outside any scope while the second changeset is being started
    Then the change is <verdict>

    Examples:
      | context   | verdict                    |
      | a         | refused with PlanError     |
      | an unsafe | put into the previous one  |

  @tdd_issue @tdd_issue_1281
  Scenario Outline: Of many who create the same action exactly one succeeds (<service>)
    Given <service> plan lifecycle service
    When 20 callers create the action "local/fix" at the same time
    Then <winners> told that they created it

    Examples:
      | service          | winners               |
      | an in-memory     | exactly one caller is |
      | a file-backed    | exactly one caller is |
      | an unsafe        | several callers are   |

  @tdd_issue @tdd_issue_1281
  Scenario Outline: A plan is started by exactly one of many (<service>)
    Given <service> plan lifecycle service
    And a plan of the action "local/fix"
    When 20 callers start to strategize it at the same time
    Then <winners> told that they started it

    Examples:
      | service          | winners               |
      | an in-memory     | exactly one caller is |
      | a file-backed    | exactly one caller is |
      | an unsafe        | several callers are   |

  @tdd_issue @tdd_issue_7088
  Scenario Outline: Failures reported by threads at the same time are all counted (<breaker>)
    Given <breaker> circuit breaker shared by 4 threads
    When each thread reports 20000 failures of "embedding"
    Then the breaker has counted <counted> failures

    Examples:
      | breaker   | counted         |
      | a         | exactly 80000   |
      | an unsafe | fewer than 80000 |

  @tdd_issue @tdd_issue_7088
  Scenario: Concurrent pipelines over one executor lose nothing
    Given a strategy executor with 4 workers
    When 10 pipelines run a working, a throwing and a spinning strategy at the same time
    Then every pipeline has the fragments of its own request and names what failed
    And the breaker has switched off the failing strategies and no other
