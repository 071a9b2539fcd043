/** The server's life: configuration, database, actors, edge; then it waits for a signal and disposes in reverse. */
import { createLog } from '#kernel/log'
import { checkCanary } from '#store/canary'
import { type Config, readConfig } from './config.ts'
import { openDatabase } from './database.ts'
import { firstStart, type NewWorkspace } from './first-start.ts'
import { secretKey } from './secret-key.ts'
import { listen, openWorkplace } from './server.ts'

/** Who asks a process to stop usually kills it after 30 seconds. */
const STOP_WITHIN_MS = 24_000

const untilStopped = (): Promise<string> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve(signal))
  })

export async function serve(): Promise<void> {
  const config = readConfig()
  const log = createLog(config.logLevel)
  const stopped = untilStopped()
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await openDatabase(config, log))
  const secret = await secretKey(config)
  await checkCanary(database.options, secret)
  const workplace = stack.use(await openWorkplace(config, database.options, { log, secret }))
  const made = await firstStart(config, workplace)
  // At once: it is shown only now, whatever comes of listening.
  if (made) welcome(made, config)
  const { port } = stack.use(await listen(config, workplace, log))
  announce({
    url: config.publicUrl.replace(/:0$/, `:${port}`),
    database: database.description,
    key: config.bootstrapKey ? undefined : made?.apiKey,
  })
  log.info({ signal: await stopped }, 'stopping')
  setTimeout(() => {
    log.error('could not stop in good order in time')
    process.exit(1)
  }, STOP_WITHIN_MS).unref()
}

/** What a person sees once: how to come in. */
function welcome({ apiKey, signInUrl }: NewWorkspace, { bootstrapKey }: Config): void {
  console.log('A workspace was made for you, with a sandbox network connected. Shown only now:\n')
  if (!bootstrapKey) console.log(`  API key     ${apiKey}`)
  console.log(`  Sign in as  its owner, by choosing a password: ${signInUrl}\n`)
}

/** What a person sees: the addresses that answer. */
function announce({ url, database, key }: { url: string; database: string; key: string | undefined }): void {
  console.log(`Tendril listens on ${url} and keeps its data in ${database}.`)
  console.log(`  REST       ${url}/api/v1/growth/…   described by ${url}/api/v1/openapi.json and ${url}/api/v1/capabilities`)
  console.log(`  MCP        ${url}/api/v1/mcp`)
  console.log(`  Sign in    ${url}/sign-in`)
  if (key) console.log(`\nTry:  curl -H 'Authorization: Bearer ${key}' ${url}/api/v1/growth/overview`)
}
