/** What the server prints once it has started. */
import type { Config } from '#config/config'
import type { NewWorkspace } from './first-start.ts'
import { firstStartFile } from './first-start-file.ts'
import { homeOf } from './home.ts'

type Shown = Pick<Config, 'publicUrl' | 'openai' | 'bootstrapKey' | 'firstStart' | 'home'>

const drafter = ({ openai }: Shown): string => {
  if (!openai)
    return 'the built-in composer, offline; OPENAI_API_KEY or OPENAI_BASE_URL selects a model'
  const { fast, reasoning, baseUrl } = openai
  return `${fast === reasoning ? fast : `${fast} and ${reasoning}`} at ${baseUrl ?? 'api.openai.com'}`
}

/** The addresses that answer, the database and the drafter. */
const addresses = (shown: Shown, database: string): string => {
  const { publicUrl: url } = shown
  return `Tendril listens on ${url} and stores its data in ${database}.
  REST       ${url}/api/v1/growth/…   documented at ${url}/docs and ${url}/api/v1/openapi.json
  MCP        ${url}/api/v1/mcp
  Console    ${url}/console   asks you to sign in
  Drafts by  ${drafter(shown)}`
}

const announceFile = ({ id }: NewWorkspace, shown: Shown): string => `

A workspace was created, with an account on the sandbox network. Its API key and the link for its owner are in a file
that only this user can read, and that is removed once the owner has joined:
  Workspace  ${id}
  File       ${firstStartFile(homeOf(shown))}`

/** How to sign in the first time. */
const welcome = (made: NewWorkspace, shown: Shown): string =>
  shown.firstStart === 'file' ? announceFile(made, shown) : announceSecrets(made, shown)

const announceSecrets = (
  { id, apiKey, signInUrl }: NewWorkspace,
  { publicUrl, bootstrapKey }: Shown,
): string => `

A workspace was created, with an account on the sandbox network. The key and the link are shown only this once:
  Workspace  ${id}
  API key    ${bootstrapKey ? 'the one in TENDRIL_BOOTSTRAP_KEY' : apiKey}
  Owner      open this link and choose a password: ${signInUrl}

Try:  curl -H "Authorization: Bearer ${bootstrapKey ? '$TENDRIL_BOOTSTRAP_KEY' : apiKey}" ${publicUrl}/api/v1/growth/overview`

/** Written at once, so that no log line comes in between. */
export const printAddresses = (
  shown: Shown,
  { database, made }: { database: string; made: NewWorkspace | undefined },
): void => console.log(addresses(shown, database) + (made ? welcome(made, shown) : ''))
