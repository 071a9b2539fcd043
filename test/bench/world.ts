/**
 * The environment of a benchmark: a database with many workspaces, each with a key, an account and
 * items, and a server for it.
 */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { searchWords } from '#domain/growth/drafting/item-words'
import { hashApiKey, newApiKey } from '#kernel/api-key'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { scopes } from '#kernel/scopes'
import { startEmbedded } from '#postgres/start'
import type { ConnectionOptions } from '#store/engine/db'
import { migrate } from '#store/engine/migrate'
import { countAt } from '../support/database/counting.ts'
import { temporaryFolder } from '../support/folder.ts'
import { databaseUrl, type Running, startProcess } from './spawn.ts'

export interface Tenant {
  id: string
  key: string
}

export interface World extends AsyncDisposable {
  options: ConnectionOptions
  owner: postgres.Sql
  tenants: Tenant[]
  /** Of the database. */
  home: string
  /** The same for all servers of this database. */
  secret: Buffer
  /** The environment of such a server. */
  env: Record<string, string>
}

export const BODY =
  'Every delay starts at the dock. We counted: of forty late trucks, thirty-one were late before they had left our own yard.'

/** Adds workspaces with a key of every scope and, in the database only, a connected account. */
export async function addTenants(owner: postgres.Sql, count: number): Promise<Tenant[]> {
  const tenants = Array.from({ length: count }, () => ({ id: newId(), key: newApiKey() }))
  const ids = tenants.map(({ id }) => id)
  await owner.begin(async (sql) => {
    await sql`insert into tenant (id, name, plan) select id, 'Bench', 'pro'
      from unnest(${ids}::uuid[]) id`
    await sql`insert into actor (tenant_id) select id from unnest(${ids}::uuid[]) id`
    const hashes = tenants.map(({ key }) => hashApiKey(key).toString('hex'))
    await sql`insert into api_key (id, tenant_id, name, hash, last4, scopes)
      select gen_random_uuid(), id, 'bench', decode(hash, 'hex'), 'last', ${scopes as never}::text[]
        from unnest(${ids}::uuid[], ${hashes}::text[]) as t (id, hash)`
    await sql`with account as (insert into sandbox.accounts (workspace_id, handle)
        select id, 'bench-' || id from unnest(${ids}::uuid[]) id returning id, handle)
      insert into connection (id, tenant_id, network, external_id, handle, status, is_default,
        created_at, updated_at)
      select gen_random_uuid(), substr(handle, 7)::uuid, 'sandbox', id, handle, 'connected', true,
        now(), now() from account`
  })
  return tenants
}

/** Adds drafts with their words to each workspace; returns their ids, workspaces in turn. */
export async function addDrafts(
  owner: postgres.Sql,
  tenants: Tenant[],
  each: number,
): Promise<{ id: string; tenant: Tenant }[]> {
  const drafts = Array.from({ length: each }, () =>
    tenants.map((tenant) => ({ id: newId(), tenant })),
  ).flat()
  for (let from = 0; from < drafts.length; from += 5_000) {
    const part = drafts.slice(from, from + 5_000)
    await owner`with made as (insert into item (id, tenant_id, kind, status, body, format, hook,
      rationale, stories, learnings, length, created_at, updated_at)
        select id, tenant_id, 'post', 'drafted', ${BODY} || ' ' || id, 'point', 'claim',
          'for a measurement', '[]', '[]', 100, now(), now()
        from unnest(${part.map(({ id }) => id)}::uuid[],
          ${part.map(({ tenant }) => tenant.id)}::uuid[]) as d (id, tenant_id)
        returning id, tenant_id)
      insert into item_word (tenant_id, word, item_id) select tenant_id, w, id
        from made, unnest(${searchWords(BODY)}::text[]) w`
  }
  return drafts
}

const ITEMS_EACH = 20
const COMMANDS_EACH = 20

/** Adds what earlier commands would leave: audit rows, and answers to replay. */
const addHistory = async (owner: postgres.Sql, tenants: Tenant[]): Promise<void> => {
  const ids = tenants.map(({ id }) => id)
  await owner`insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation)
    select gen_random_uuid(), id, now(), 'key', 'bench', 'rest', 'bench'
      from unnest(${ids}::uuid[]) id, generate_series(1, ${COMMANDS_EACH})`
  await owner`insert into idempotency (tenant_id, key, operation, fingerprint, state, status, body,
    expires_at)
    select id, 'before-' || n, 'bench', repeat('0', 64), 'done', 200,
      ${JSON.stringify({ profile: BODY })}, now() + interval '24 hours'
    from unnest(${ids}::uuid[]) id, generate_series(1, ${COMMANDS_EACH}) n`
}

interface WorldOptions {
  /** As durable as a server's, unless false. */
  durable: boolean
  /** Postgres counts its statements. */
  counted?: boolean
}

/** A Postgres of its own with this many workspaces. */
export async function openWorld(
  tenantCount: number,
  { durable, counted = false }: WorldOptions,
): Promise<World> {
  await using stack = new AsyncDisposableStack()
  const log = createLog('error')
  const home = stack.use(await temporaryFolder())
  if (counted) await countAt(home.path)
  const { target } = stack.use(await startEmbedded({ home: home.path, log, durable }))
  await migrate(target, log)
  const owner = postgres({ ...target, max: 2, onnotice: () => {} })
  stack.defer(() => owner.end({ timeout: 1 }))
  const tenants = await addTenants(owner, tenantCount)
  await addDrafts(owner, tenants, ITEMS_EACH)
  await addHistory(owner, tenants)
  // Empty tables are left out: once analysed as empty, a table is planned for as empty, which no
  // table of a server is for long.
  await owner`vacuum analyze tenant, actor, api_key, connection, item, item_word, idempotency,
    audit`
  const secret = randomBytes(32)
  const env = {
    DATABASE_URL: databaseUrl(target),
    TENDRIL_SECRET_KEY: secret.toString('base64'),
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
  }
  const owned = stack.move()
  return {
    options: target,
    owner,
    tenants,
    home: home.path,
    secret,
    env,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Starts the server on this database, as `npm start` does. */
export const startServer = (world: World, env: Record<string, string> = {}): Promise<Running> =>
  startProcess([process.execPath, 'src/main.ts'], { ...world.env, ...env })
