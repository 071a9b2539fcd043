/**
 * State that tests write directly into the tables, past every policy, because it otherwise takes
 * time, a failing network or an operator. Only this file knows the product's column names; the
 * tests do not.
 */
import type postgres from 'postgres'
import type { WorkKind } from '#contract/work'
import { kindsOfWork } from '#decisions/work'
import { newId } from '#kernel/ids'

interface Place {
  owner: postgres.Sql
}

/** A value, or a fragment of SQL that yields it. */
type Values<Row> = { [Name in keyof Row]?: Row[Name] | postgres.PendingQuery<postgres.Row[]> }

interface PlanRow {
  plan: string
  billing: string
  overrides: object
}

/** Changes parts of a workspace's plan, without an audit row and whatever the plan allows. */
export const setPlan = async (
  { owner }: Place,
  tenantId: string,
  { overrides, ...more }: Partial<PlanRow>,
): Promise<void> => {
  const row = { ...more, ...(overrides && { overrides: owner.json(overrides as never) }) }
  await owner`update tenant set ${owner(row as never)} where id = ${tenantId}`
}

/** How much of a quota or budget has been used: in `period`, or in the counter's present period. */
export const setUsed = async (
  { owner }: Place,
  tenantId: string,
  counter: { key: string; used: number; period?: string },
): Promise<void> => {
  const { key, used, period } = counter
  if (period === undefined)
    await owner`update counter set used = ${used} where tenant_id = ${tenantId} and key = ${key}`
  else
    await owner`insert into counter (tenant_id, key, period, used)
      values (${tenantId}, ${key}, ${period}, ${used})
      on conflict (tenant_id, key) do update set period = excluded.period, used = excluded.used`
}

/**
 * Makes work on a record due now, or `at` another time. The process looks for due work when
 * something else wakes the workspace.
 */
export const makeDue = async (
  { owner }: Place,
  refId: string,
  { kind, at }: { kind?: string; at?: Date } = {},
): Promise<void> => {
  await owner`update work set run_at = ${at ?? owner`now()`}
    where ref_id = ${refId} ${kind ? owner`and kind = ${kind}` : owner``}`
}

/** Automatic work of a kind whose record is gone. */
export const insertRecordlessWork = async (
  { owner }: Place,
  tenantId: string,
  { kind, at }: { kind: WorkKind; at: Date },
): Promise<void> => {
  const row = {
    id: newId(),
    tenant_id: tenantId,
    lane: kindsOfWork[kind].lane,
    kind,
    ref_id: newId(),
    origin: 'automatic',
    run_at: at,
  }
  await owner`insert into work ${owner({ ...row, concurrency_key: `test:${kind}` })}`
}

/** Makes a scheduled item due now, or `at` another time. */
export const makeItemDue = async (place: Place, id: string, at?: Date): Promise<void> => {
  await place.owner`update item set post_at = ${at ?? place.owner`now()`} where id = ${id}`
  await makeDue(place, id, at ? { at } : {})
}

/** Makes the sweep wake a workspace. */
export const wakeActor = async ({ owner }: Place, tenantId: string): Promise<void> => {
  await owner`update actor set wake_at = now() where tenant_id = ${tenantId}`
}

/** Ends the leases of open attempts now: those of one item, or of all. */
export const endLeases = async ({ owner }: Place, itemId?: string): Promise<void> => {
  await owner`update attempt set lease_until = now()
    ${itemId ? owner`where item_id = ${itemId}` : owner``}`
}

/** Makes the leases of all attempts outlast the test. */
export const extendLeases = async ({ owner }: Place): Promise<void> => {
  await owner`update attempt set lease_until = now() + interval '1 hour'`
}

/** Makes the attempt so short that its lease ended long ago. */
export const endLeaseAtIntent = async ({ owner }: Place, itemId: string): Promise<void> => {
  await owner`update attempt set lease_until = intent_at where item_id = ${itemId}`
}

interface ItemRow {
  prints: readonly number[]
  kind: string
  status: string
  review: boolean
  title: string
  body: string
  format: string
  hook: string
  rationale: string
  last_error: string
  account_external_id: string
  external_id: string
  batch_id: string | null
  source_kind: string
  source_id: string | null
  experiment_id: string | null
  arm: string | null
  post_at: Date | string | null
  posted_at: Date | string | null
  created_at: Date | string
  updated_at: Date | string
}

export const setItem = async (
  { owner }: Place,
  id: string,
  fields: Values<ItemRow>,
): Promise<void> => {
  await owner`update item set ${owner(fields as never)} where id = ${id}`
}

/** Puts an item in doubt into review: its timeline was read, but did not show the post. */
export const settleForReview = async ({ owner }: Place, id: string): Promise<void> => {
  await owner`delete from work where ref_id = ${id} and kind = 'reconcile'`
  await owner`update attempt set state = 'review' where item_id = ${id} and state = 'doubt'`
  await owner`update item set review = true where id = ${id}`
}

/** A draft of a post, unless `fields` say otherwise. Returns its id. */
export const insertItem = async (
  { owner }: Place,
  tenantId: string,
  fields: Values<ItemRow & { id: string }> = {},
): Promise<string> => {
  const id = (fields.id as string | undefined) ?? newId()
  const now = owner`now()`
  const row = {
    kind: 'post',
    status: 'drafted',
    body: `Draft ${id}`,
    format: 'point',
    hook: 'none',
    rationale: 'for a test',
    length: 10,
    stories: owner.json([]),
    learnings: owner.json([]),
    created_at: now,
    updated_at: now,
    ...fields,
    id,
    tenant_id: tenantId,
  }
  await owner`insert into item ${owner(row as never)}`
  return id
}

/** Many drafts in one statement. */
export const insertItems = async (
  { owner }: Place,
  tenantId: string,
  { count, body }: { count: number; body: string },
): Promise<void> => {
  await owner`insert into item (id, tenant_id, kind, status, body, format, hook, rationale, stories,
    learnings, length, created_at, updated_at)
    select gen_random_uuid(), ${tenantId}, 'post', 'drafted', ${body}, 'point', 'none', '', '[]',
      '[]', 10, now(), now()
    from generate_series(1, ${count})`
}

/**
 * A post that exists on the sandbox network though nobody here sent it. Returns the network's id of
 * it.
 */
export const insertSandboxPost = async (
  { owner }: Place,
  account: string,
  text: string,
): Promise<string> => {
  const [post] = await owner<
    { id: string }[]
  >`insert into sandbox.posts (account_id, text) values (${account}, ${text}) returning id`
  return post!.id
}

/** Makes the network apply the first send of an item after all, at the time when it was sent. */
export const applyFirstSend = async (
  { owner }: Place,
  account: string,
  { id, text }: { id: string; text: string },
): Promise<void> => {
  await owner`insert into sandbox.posts (account_id, text, created_at)
    select ${account}, ${text}, intent_at from attempt where item_id = ${id} and number = 1`
}

interface KeyRow {
  person_id: string
  revoked_at: Date
  expires_at: Date | null
}

/**
 * Adds this many API keys that nobody uses: the workspace's, unless `fields` name a person.
 * Resolves with their ids.
 */
export const insertKeys = async (
  { owner }: Place,
  tenantId: string,
  count: number,
  fields: Partial<KeyRow> = {},
): Promise<string[]> => {
  const row = (id: string) => ({
    id,
    tenant_id: tenantId,
    name: 'test',
    hash: Buffer.from(id),
    last4: '0000',
    scopes: ['api:read'],
    ...fields,
  })
  const rows = Array.from({ length: count }, () => row(newId()))
  await owner`insert into api_key ${owner(rows as never)}`
  return rows.map(({ id }) => id)
}

export const setKeyScopes = async (
  { owner }: Place,
  keyId: string,
  scopes: string[],
): Promise<void> => {
  await owner`update api_key set scopes = ${scopes} where id = ${keyId}`
}

/** Makes an existing person a member of another workspace. */
export const insertMember = async (
  { owner }: Place,
  tenantId: string,
  { personId, role }: { personId: string; role: string },
): Promise<void> => {
  await owner`insert into member (tenant_id, person_id, role)
    values (${tenantId}, ${personId}, ${role})`
}

/** Sets their role in every workspace. */
export const setRole = async ({ owner }: Place, personId: string, role: string): Promise<void> => {
  await owner`update member set role = ${role} where person_id = ${personId}`
}
