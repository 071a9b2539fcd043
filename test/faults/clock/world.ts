/** Two servers whose wall clocks are apart, on a database whose clock can be set. */
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type postgres from 'postgres'
import { type DatabaseClock, steppedDb } from '#test/support/database/clock'
import { temporaryFolder } from '#test/support/folder'
import type { Story } from '#test/support/growth/story'
import { newDeployment, type ServerProcess, startServer } from '#test/support/processes/server'
import { newAsking } from '../asking.ts'
import { isOverdue } from '../killing.ts'
import { numbers } from '../numbers.ts'
import { type Clients, newClients } from '../posting/clients.ts'
import { recordAnnounced } from '../posting/verdict.ts'
import { newStories } from '../stories.ts'
import { startNaive } from './naive.ts'
import { scenes } from './scenes.ts'
import { plantSchedules } from './schedules.ts'
import type { Ordered } from './verdict.ts'

export interface ClockOptions {
  rounds: number
  /** How many scenes are played, starting with `first`. */
  scenes: number
  first: number
  /** In each scene, over all workspaces. */
  items: number
  workspaces: number
  /** Servers killed in a round, at most one in a scene. */
  kills: number
  /** An item that was due for longer, while it could be posted, was missed. */
  lateMs: number
  seed: number
  /**
   * `naive`: the servers hold their posts, and publishers that trust their own clocks send them.
   */
  publisher: 'ours' | 'naive'
  /**
   * `counted`: the run ends when every doubt is settled or put before a person, which takes a
   * minute after a kill.
   */
  doubts: 'counted' | 'left'
}

export const DAY_MS = 86_400_000
/** How far the servers' wall clocks are ahead of the database's when a scene begins. */
export const APART = [2 * DAY_MS, -DAY_MS / 24]
/** Settings that another owner of the database might make, which must not matter. */
const FOREIGN = { timezone: "'Australia/Lord_Howe'", datestyle: "'SQL, DMY'" }

export interface World {
  owner: postgres.Sql
  clock: DatabaseClock
  stories: Story[]
  clients: Clients
  /** Two servers, each with a wall clock of its own. */
  servers: ServerProcess[]
  /** Sets how far the wall clock of a server is ahead of the database's. */
  wall(place: number, ahead: number): Promise<void>
  /** Kills a server with -9, and starts another in its place. */
  replace(place: number, zone: string): Promise<void>
  next: () => number
  orders: Ordered[]
}

export const newWorld = async (
  stack: AsyncDisposableStack,
  { workspaces, seed, publisher }: ClockOptions,
  faults: string,
): Promise<World> => {
  const database = stack.use(await steppedDb(FOREIGN))
  const deployment = stack.use(await newDeployment(database))
  const folder = stack.use(await temporaryFolder())
  const { owner } = deployment
  await owner`alter table sandbox.posts add column real_at timestamptz not null default
    pg_catalog.clock_timestamp()`
  await recordAnnounced(owner)
  const naive = publisher === 'naive' ? stack.use(await startNaive(owner)) : undefined
  const next = numbers(seed)
  const servers: ServerProcess[] = []
  const fileOf = (place: number): string => join(folder.path, `ahead-${place}`)
  const { clock } = database
  const wall = async (place: number, ahead: number): Promise<void> => {
    const real = Math.round(clock.history.at(-1)!.ahead + ahead)
    naive?.wall(place, real)
    await Bun.write(`${fileOf(place)}.new`, String(real))
    await rename(`${fileOf(place)}.new`, fileOf(place))
  }
  const replace = async (place: number, zone: string): Promise<void> => {
    await servers[place]?.kill()
    const env = {
      TZ: zone,
      CLOCK_AHEAD: fileOf(place),
      LOG_LEVEL: 'silent',
      ...(faults ? { SANDBOX_FAULTS: faults } : {}),
    }
    servers[place] = await startServer({
      ...deployment.server,
      preload: './test/support/processes/process-clock.ts',
      env,
    })
  }
  stack.defer(async () => void (await Promise.all(servers.map((server) => server.kill()))))
  for (const place of [0, 1]) {
    await wall(place, APART[place]!)
    await replace(place, scenes[place]!.zone)
  }
  const stories = await newStories(deployment, workspaces, { post_now: 100_000 })
  if (publisher === 'ours') await plantSchedules(owner, stories)
  const asking = newAsking({
    servers: () => servers,
    next: numbers(seed + 1),
    isOverdue: (began) => isOverdue(0, began),
  })
  const clients = newClients(owner, asking)
  if (naive)
    for (const story of stories)
      await story.at({ owner, send: servers[0]!.send }).send('POST', 'automation/pause-all')
  return { owner, clock, stories, clients, servers, wall, replace, next, orders: [] }
}
