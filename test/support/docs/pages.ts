/** The pages that people read. */
import { readFileSync } from 'node:fs'

export const pageNames = [
  'README.md',
  'SECURITY.md',
  'docs/agents.md',
  'docs/backups.md',
  'docs/channels.md',
  'docs/cli.md',
  'docs/console.md',
  'docs/copies.md',
  'docs/networks.md',
  'docs/operating.md',
  'docs/people.md',
  'docs/promises.md',
  'docs/rest.md',
  'docs/running.md',
  'docs/security.md',
  'docs/webhooks.md',
  'docs/workspace-agent.md',
]
export const readPage = (name: string): string => readFileSync(name, 'utf8')
export const pages = pageNames.map((name) => [name, readPage(name)] as const)
