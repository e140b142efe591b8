Feature: Spending
  Scenario: Of several calls at once those are refused that could go over the cap
    Given an empty data directory
    And the file "answers.yaml":
      """
      turns:
        - match: { user: hello }
          text: "yes"
          usage: { input_tokens: 100, output_tokens: 80 }
      """
    When I run "agents config set provider.scripted.transcript answers.yaml"
    Then it succeeds
    When I run "agents config set provider.scripted.prices *=1000/1000"
    Then it succeeds
    When I run "agents config set budget.per-day 0.30"
    Then it succeeds
    When 4 processes at once run "agents actor run scripted/transcript hello --max-output-tokens 100"
    Then one of them succeeds and 3 exit with code 1
    When I run "agents actor run scripted/transcript hello --max-output-tokens 100"
    Then it fails with exit code 1
    And the error contains "budget"
    When I run "agents info --format json"
    Then the output contains ""spent_usd": 0.18"
