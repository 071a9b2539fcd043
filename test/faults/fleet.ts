/**
 * Servers of one deployment, each with a proxy to the database of its own, and workspaces for a
 * load.
 */
import { randomBytes } from 'node:crypto'
import type postgres from 'postgres'
import { newId } from '#kernel/ids'
import { createKey, createWorkspace, usualScopes } from '#ops/operator/admin/workspaces'
import { type ConnectionOptions, openDb } from '#store/engine/db'
import { type DatabaseProxy, startProxy } from '#test/support/database/proxy'
import {
  type Deployment,
  newDeployment,
  type ServerOptions,
  type ServerProcess,
  startServer,
} from '#test/support/processes/server'
import type { Place, Switch } from './namespaces.ts'

export interface Member {
  /** The application name of this server's sessions, and of its successors', in the database. */
  name: string
  proxy: DatabaseProxy
  process: ServerProcess
  /** Its network namespace, if the fleet has them. */
  place: Place | undefined
  /** Starts a new process in place of one that has ended. */
  restart(): Promise<void>
}

export interface Tenant {
  id: string
  key: string
}

export interface Fleet extends AsyncDisposable {
  owner: postgres.Sql
  members: Member[]
  tenants: Tenant[]
}

export interface FleetOptions {
  servers: number
  tenants: number
  /** The environment of every server. */
  env?: Record<string, string>
  deployment?: Deployment
  /** Gives each server a network namespace of its own. */
  network?: Switch
}

/**
 * Every audited letter leaves a row in `faults.letter`, numbered under the row lock of its
 * workspace, hence in the order of commits: which server wrote it, which incarnation the fence
 * admitted, and when it began and ended. Audit rows written outside the mailboxes, such as
 * operators', come from another role and leave none.
 */
export const recordLetters = async (owner: postgres.Sql): Promise<void> => {
  await owner`create schema faults`
  await owner`create table faults.letter (seq bigserial primary key, tenant_id uuid not null,
    server text not null default current_setting('application_name'),
    incarnation uuid, epoch bigint, request_id text, began timestamptz not null,
      ended timestamptz not null default clock_timestamp())`
  await owner.unsafe(`create function faults.record() returns trigger language plpgsql security definer as $$ begin
    insert into faults.letter (tenant_id, incarnation, epoch, request_id, began)
      select new.tenant_id, a.owner, a.epoch, new.request_id, new.at from public.actor a where a.tenant_id = new.tenant_id;
    return null; end $$`)
  await owner`create trigger faults_record after insert on audit for each row
    when (starts_with(current_user, 'tendril_app')) execute function faults.record()`
}

const startMember = async (
  base: ServerOptions,
  network: Switch | undefined,
  stack: AsyncDisposableStack,
): Promise<Member> => {
  const name = `fault-${randomBytes(6).toString('hex')}`
  const place = await network?.newPlace()
  const proxy = stack.use(
    await startProxy({ ...base.database }, { host: network?.databaseAddress, name }),
  )
  const options = {
    ...base,
    database: proxy.options,
    ...(place ? { within: place.within, host: place.address } : {}),
  }
  const member: Member = {
    name,
    proxy,
    place,
    process: await startServer(options),
    async restart() {
      member.process = await startServer(options)
    },
  }
  stack.defer(() => member.process[Symbol.asyncDispose]())
  return member
}

/** Creates workspaces with a key each, without a server. */
export const newTenants = async (options: ConnectionOptions, count: number): Promise<Tenant[]> => {
  await using db = openDb({ ...options, max: 1 })
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const id = await createWorkspace(db, `Fault ${newId()}`)
      const { api_key } = await createKey(db, { tenantId: id, scopes: usualScopes, name: 'fault' })
      return { id, key: api_key }
    }),
  )
}

export async function startFleet({
  servers,
  tenants,
  env = {},
  deployment,
  network,
}: FleetOptions): Promise<Fleet> {
  await using stack = new AsyncDisposableStack()
  const { owner, server } = deployment ?? stack.use(await newDeployment())
  await recordLetters(owner)
  const members: Member[] = []
  stack.defer(async () => void (await owner`drop schema faults cascade`))
  for (let made = 0; made < servers; made++)
    members.push(await startMember({ ...server, env }, network, stack))
  const made = await newTenants(server.database!, tenants)
  const owned = stack.move()
  return { owner, members, tenants: made, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
