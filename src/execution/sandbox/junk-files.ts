/**
 * Files that programs leave behind when they run: caches, logs, reports, installed packages. A command that makes
 * one does not change the project, so they are left out of a plan like files that git ignores: our repository beside
 * the tree has these rules, below all rules of the project, which can take them back. A file tool that writes such a
 * path means it, and makes it part of the plan.
 */
export const JUNK_RULES = `
__pycache__/
*.py[co]
.pytest_cache/
.mypy_cache/
.ruff_cache/
.hypothesis/
.ipynb_checkpoints/
*.egg-info/
.coverage
.coverage.*
htmlcov/
coverage/
.nyc_output/
lcov.info
*.tsbuildinfo
.eslintcache
.stylelintcache
*.log
*.swp
*~
.DS_Store
Thumbs.db
node_modules/
.venv/
`.trimStart();
