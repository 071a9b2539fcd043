/** A deployment with an embedded database, in a home of its own: the original or a restored one. */
import postgres from 'postgres'
import { findEmbedded } from '#postgres/start'
import { eventually } from '#test/support/app'
import { type Story, storyAt } from '#test/support/growth/story'
import { mainProgram } from '#test/support/processes/bundle'
import { startServer } from '#test/support/processes/server'

export interface Home extends AsyncDisposable {
  path: string
  story: Story
  owner: postgres.Sql
  /** The server's start until it was ready, in milliseconds. */
  startedIn: number
}

/** Starts a server on the home, and looks into its database. */
export const serve = async (
  path: string,
  { key, faults }: { key: string; faults: string },
): Promise<Home> => {
  await using stack = new AsyncDisposableStack()
  const begun = performance.now()
  const env = { SANDBOX_FAULTS: faults, LOG_LEVEL: 'silent' }
  const server = stack.use(await startServer({ key, home: path, env }))
  const startedIn = performance.now() - begun
  const target = await eventually(
    () => findEmbedded(path),
    (found) => found !== undefined,
  )
  const owner = postgres({ ...target!, max: 2, onnotice: () => {} })
  stack.defer(() => owner.end({ timeout: 1 }))
  const [row] = await eventually(
    async () =>
      owner<{ tenant_id: string; external_id: string }[]>`select tenant_id, external_id
        from connection`,
    (rows) => rows.length > 0,
  )
  const workspace = { tenantId: row!.tenant_id, account: row!.external_id, key }
  const story = storyAt({ owner, send: server.send }, workspace)
  const owned = stack.move()
  return { path, story, owner, startedIn, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** An operators' command on a home. */
export const operate = async (home: string, ...args: string[]) => {
  const child = Bun.spawn([process.execPath, await mainProgram(), 'admin', ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', TENDRIL_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const answer = async () => {
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    if ((await child.exited) !== 0) throw new Error(`admin ${args.join(' ')}: ${err || out}`)
    return JSON.parse(out) as Record<string, unknown>
  }
  return { kill: () => child.kill('SIGKILL'), exited: child.exited, answer }
}

/** The same until it has ended. */
export const operated = async (home: string, ...args: string[]) =>
  (await operate(home, ...args)).answer()
