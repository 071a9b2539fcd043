/**
 * The secret key rotated under load on two servers, while the command and the servers are killed:
 * nobody is signed out, and nothing that was sealed becomes unreadable. Afterwards the old key is
 * dropped, and servers start that know the new one alone.
 * `npm run fault:rotation -- --kills 20 --people 8 --seed 7`.
 */
import { randomBytes } from 'node:crypto'
import type postgres from 'postgres'
import { newId } from '#kernel/ids'
import { type SecretKey, secretKeyOf } from '#kernel/secret'
import { TEST_SECRET } from '#test/support/database/db'
import { mainProgram } from '#test/support/processes/bundle'
import {
  type Deployment,
  environmentOf,
  newDeployment,
  runAdmin,
  type ServerOptions,
  type ServerProcess,
  startServer,
} from '#test/support/processes/server'
import { fillSealed, unreadable } from '#test/support/secret/sealed-rows'
import { type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import {
  joined,
  look,
  type Person,
  type Place,
  Quiet,
  refresh,
  replay,
  rotateWebhook,
  type Seen,
} from './people.ts'

export interface RotationOptions {
  kills: number
  people: number
  seed: number
}

/** Workspaces that nobody uses, with a value of every kind. */
const FILLED = 12
/** One kill in so many is of a server. */
const SERVER_EVERY = 4
/** The command has begun by then, or is among its batches, or waits for servers. */
const KILLED_WITHIN_MS = 6_000

const fill = async (root: postgres.Sql, key: SecretKey): Promise<string[]> => {
  const tenants = Array.from({ length: FILLED }, () => newId())
  for (const id of tenants) {
    await root`insert into tenant (id, name, plan) values (${id}, 'filled', 'team')`
    await fillSealed({ root, tenantId: id }, key)
  }
  // No server wakes them, so no row of theirs is used.
  await root`delete from actor where tenant_id = any(${tenants}::uuid[])`
  // Nor would anybody come back to their sessions.
  await root`delete from session where tenant_id = any(${tenants}::uuid[])`
  return tenants
}

/** A command as a process, which can be killed. */
const command = async (options: ServerOptions, ...args: string[]) => {
  const child = Bun.spawn([process.execPath, await mainProgram(), 'admin', ...args], {
    env: environmentOf(options, 0),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return {
    kill: async () => {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

const succeeded = async (options: ServerOptions, ...args: string[]) => {
  const { code, err, json } = await runAdmin(options, ...args)
  if (code !== 0) throw new Error(`admin ${args.join(' ')}: ${err}`)
  return json
}

/** People who go on until the run is over. */
const use = async (place: Place, person: Person, over: AbortSignal): Promise<void> => {
  const acts = [look, look, look, rotateWebhook, replay, refresh]
  while (!over.aborted) {
    await acts[Math.floor(place.random() * acts.length)]!(place, person)
    await Bun.sleep(20 + place.random() * 80)
  }
}

interface Servers {
  running: ServerProcess[]
  options: ServerOptions
}

const replaceServer = async ({ running, options }: Servers, at: number): Promise<void> => {
  await running[at]!.kill()
  running[at] = await startServer(options)
}

const killInTurn = async (
  servers: Servers,
  { kills, random, quiet }: { kills: number; random(): number; quiet: Quiet },
): Promise<number> => {
  let ofServers = 0
  for (let nth = 1; nth <= kills; nth++) {
    const running = await command(servers.options, 'secret', 'rotate')
    await Bun.sleep(random() * KILLED_WITHIN_MS)
    if (nth % SERVER_EVERY === 0) await quiet.kill(() => replaceServer(servers, ofServers++ % 2))
    await running.kill()
  }
  return ofServers
}

/** Of the values in the whole database, and in the workspaces that nobody uses. */
const unreadableIn = async (
  { owner }: Deployment,
  tenants: string[],
  key: SecretKey,
): Promise<number> => {
  const places = tenants.map((tenantId) => unreadable({ root: owner, tenantId }, key))
  const wrong = (await Promise.all(places)).flat()
  for (const line of wrong.slice(0, 10)) console.error(line)
  return wrong.length
}

const withNext = (options: ServerOptions, next: SecretKey): ServerOptions => ({
  ...options,
  env: { ...options.env, TENDRIL_SECRET_KEY_NEXT: next.bytes.toString('base64') },
})

const peopleOf = async (server: ServerOptions, url: string, count: number): Promise<Person[]> => {
  const people: Person[] = []
  for (let nth = 0; nth < count; nth++) {
    const email = `p${nth}@example.com`
    const made = await succeeded(server, 'tenant', 'create', '--name', `W${nth}`, '--email', email)
    people.push(await joined(url, made.sign_in_url, email))
  }
  return people
}

export async function runRotation({ kills, people, seed }: RotationOptions): Promise<Verdict> {
  await using stack = new AsyncDisposableStack()
  const deployment = stack.use(await newDeployment())
  const [old, next] = [secretKeyOf(TEST_SECRET), secretKeyOf(randomBytes(32))]
  const [options, random] = [withNext(deployment.server, next), numbers(seed)]
  const servers: Servers = { running: [], options }
  stack.defer(async () => void (await Promise.all(servers.running.map((one) => one.kill()))))
  servers.running.push(await startServer(options), await startServer(options))
  const tenants = await fill(deployment.owner, old)
  const quiet = new Quiet()
  const seen: Seen = { requests: 0, refreshes: 0, signedOut: 0, unreadable: 0 }
  const place: Place = { urls: () => servers.running.map(({ url }) => url), random, quiet, seen }
  const all = await peopleOf(options, servers.running[0]!.url, people)
  const over = new AbortController()
  // One person does not come back until it is over, and keeps the old key needed.
  const using = Promise.all(all.slice(1).map((person) => use(place, person, over.signal)))
  using.catch(() => over.abort())
  const ofServers = await killInTurn(servers, { kills, random, quiet })
  const rotated = await succeeded(options, 'secret', 'rotate')
  over.abort()
  await using
  const early = await runAdmin(options, 'secret', 'drop-old')
  for (const person of all) await refresh(place, person)
  await succeeded(options, 'secret', 'drop-old')
  for (const person of all) await look(place, person)
  const alone = { ...deployment.server, secret: next.bytes.toString('base64') }
  servers.options = alone
  for (const at of [0, 1]) await quiet.kill(() => replaceServer(servers, at))
  for (const person of all)
    for (const act of [look, replay, refresh, look]) await act(place, person)
  seen.unreadable += await unreadableIn(deployment, tenants, next)
  const counts = {
    seed,
    people,
    kills,
    kills_of_servers: ofServers,
    requests: seen.requests,
    refreshes: seen.refreshes,
    resealed_at_last: rotated.resealed,
    drop_refused_before: early.code === 0 ? 0 : 1,
    signed_out: seen.signedOut,
    unreadable: seen.unreadable,
  }
  return verdictOn({
    counts,
    never: { 'people signed out': seen.signedOut, 'values unreadable': seen.unreadable },
    atStake: { requests: seen.requests, drop_refused_before: counts.drop_refused_before },
  })
}

if (import.meta.main) await alone('rotation', { kills: 20, people: 8, seed: 1 }, runRotation)
