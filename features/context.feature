Feature: Seeing what a model would see
  Background:
    Given an empty data directory
    And a git repository "shop-code"
    And a person writes "export function validateSession(token: string) { return token !== ''; }\n" into "shop-code/session.ts"
    And a person writes "import { validateSession } from './session.ts';\nexport const open = validateSession('x');\n" into "shop-code/server.ts"
    And a person writes "var validateSession=1;\n" into "shop-code/session.min.js"

  Scenario: A ready context for any model, without a project
    When I run "agents context pack --path shop-code --budget 2k 'where is the session validated?'"
    Then it succeeds
    And the output contains "export function validateSession(token: string)"
    And the error contains "of 2,000 tokens"
    When I run "agents context pack --path shop-code --budget 0 session"
    Then it fails with exit code 3
    And the error contains "kept:  Nothing was printed."

  Scenario: A project decides what models may see, and the context says why a file is in it
    When I run "agents resource add git-checkout api --path shop-code"
    And I run "agents project create shop --resource api"
    And I run "agents project context set shop --exclude *.min.js --budget 4k"
    Then it succeeds
    When I run "agents project context show shop --view execute"
    Then the output contains "4000 tokens"
    When I run "agents project context inspect shop --query validateSession --focus session.ts"
    Then it succeeds
    And the output contains "Around session.ts"
    And the output contains "imported by  server.ts"
    And the output contains "set by policy"
    When I run "agents project context simulate shop --query validateSession"
    Then the output contains "nothing was changed but the index"
    When I run "agents project context inspect shop --focus session.min.js"
    Then it fails with exit code 3
    When I run "agents project context set shop --view excute --clear"
    Then it fails with exit code 2

  Scenario: Files that changed are noticed
    When I run "agents resource add git-checkout api --path shop-code"
    And I run "agents project create shop --resource api"
    And I run "agents project context index shop"
    Then the output contains "4 files of local/shop are indexed"
    When a person writes "export const late = 1;\n" into "shop-code/late.ts"
    And I run "agents project context inspect shop --query late"
    Then the output contains "0 files changed, 1 added, 0 gone"
    When I run "agents context analyze shop"
    Then the output contains "typescript"
    When I run "agents context breakers list"
    Then the output contains "No strategy is switched off."
