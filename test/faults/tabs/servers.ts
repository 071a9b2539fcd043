/** Two servers of one database behind one address, which end, return and hand workspaces over. */
import type postgres from 'postgres'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { openDb } from '#store/engine/db'
import { setPlan } from '#test/support/database/writes'
import { eventually } from '#test/support/eventually'
import {
  newDeployment,
  type ServerOptions,
  type ServerProcess,
  startServer,
} from '#test/support/processes/server'
import { type Address, openAddress } from './address.ts'

/** One of the two places where a server runs. */
export interface Seat {
  process: ServerProcess | undefined
  /** The build that starts there next; undefined: that of the tree. */
  program: string | undefined
}

export interface TwoServers extends AsyncDisposable {
  owner: postgres.Sql
  options: ServerOptions
  address: Address
  seats: readonly [Seat, Seat]
  /** The workspace that the first server made, and its key. */
  home: { tenantId: string; key: string }
  /** Another one. */
  other: string
}

const running = (seats: readonly Seat[]): ServerProcess[] =>
  seats.flatMap(({ process }) => process ?? [])

const routeToAll = ({ address, seats }: Pick<TwoServers, 'address' | 'seats'>): void =>
  address.route(running(seats).map(({ url }) => url))

const BUILT_MS = 60_000
const WRITTEN_PER_HOUR = 100_000

/** From source, a server builds the console after it has begun to answer. */
const untilBuilt = async ({ url }: ServerProcess): Promise<void> => {
  const isBuilt = async () => (await fetch(`${url}/console/none.js`)).status !== 503
  await eventually(isBuilt, Boolean, BUILT_MS)
}

export const start = async (servers: TwoServers, seat: Seat): Promise<void> => {
  const { program } = seat
  const process = await startServer({ ...servers.options, ...(program && { program }) })
  await untilBuilt(process)
  seat.process = process
  routeToAll(servers)
}

/** As operators do, who wait until it has ended. */
export const terminate = async (servers: TwoServers, seat: Seat): Promise<void> => {
  const { process } = seat
  process?.terminate()
  await process?.exited
  seat.process = undefined
  routeToAll(servers)
}

/** By SIGKILL, which the address notices at once. */
export const kill = async (servers: TwoServers, seat: Seat): Promise<void> => {
  await seat.process?.kill()
  seat.process = undefined
  routeToAll(servers)
}

/** Where the workspace is served. */
export const ownerSeat = async ({ owner, home, seats }: TwoServers): Promise<Seat> => {
  const [node] = await owner<{ url: string }[]>`select n.url from actor a
    join node n on n.incarnation = a.owner where a.tenant_id = ${home.tenantId}`
  return seats.find(({ process }) => process?.url === node?.url) ?? seats[0]
}

export const otherSeat = ({ seats: [a, b] }: TwoServers, seat: Seat): Seat => (seat === a ? b : a)

/** Counts the owner out while it works: the other one takes the workspace. */
export const countOut = async (servers: TwoServers): Promise<void> => {
  const seat = await ownerSeat(servers)
  await servers.owner`delete from node where url = ${seat.process!.url}`
}

export async function startTwoServers(): Promise<TwoServers> {
  await using stack = new AsyncDisposableStack()
  const { owner, server, firstWorkspace } = stack.use(await newDeployment())
  const address = stack.use(await openAddress())
  const env = {
    PUBLIC_URL: address.url,
    CONSOLE: 'on',
    RATE_LIMITS: 'on',
    LOG_LEVEL: 'error',
  }
  const seats = [
    { process: undefined, program: undefined },
    { process: undefined, program: undefined },
  ] as TwoServers['seats']
  const options = { ...server, env }
  const servers = { owner, options, address, seats } as unknown as TwoServers
  stack.defer(async () => {
    for (const seat of seats) await seat.process?.kill()
  })
  await start(servers, seats[0])
  servers.home = await firstWorkspace()
  await start(servers, seats[1])
  await using db = openDb({ ...server.database!, max: 1 })
  servers.other = await createWorkspace(db, 'Elsewhere')
  // Within the hour, more is written here than people may.
  for (const workspace of [servers.home.tenantId, servers.other])
    await setPlan(servers, workspace, { overrides: { create_item: WRITTEN_PER_HOUR } })
  const owned = stack.move()
  return Object.assign(servers, { [Symbol.asyncDispose]: () => owned.disposeAsync() })
}
