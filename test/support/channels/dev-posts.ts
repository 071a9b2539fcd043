/** Posts to the dev channel, and the jobs that they begin. */

import { newId } from '#kernel/ids'
import { signedHeaders } from '#port/webhook'
import { loadNow } from '#store/engine/load'
import { type Work, workOfKinds } from '#store/engine/work'
import { eventually, type TestApp } from '../app.ts'
import { CHANNEL_SECRET, channelAdmin } from './channels.ts'

export interface DevChannel {
  id: string
  tenantId: string
  routingKey: string
}

/** A connection that its provider has confirmed. */
export const devChannel = async (
  app: TestApp,
  more: Record<string, unknown> = {},
  tenantId = app.tenantId,
): Promise<DevChannel> => {
  const routingKey = newId()
  const { connect, checked } = await channelAdmin(app, tenantId)
  const id = await connect({ routingKey, senderPolicy: 'anyone', ...more })
  await checked(id)
  return { id, tenantId, routingKey }
}

export interface DevPost {
  /** The id of the event. */
  id?: string
  sender?: string
  text?: string
  thread?: string
  [field: string]: unknown
}

interface Signing {
  secret?: string
  at?: Date
  headers?: Record<string, string>
  /** Replaces the JSON of the post. */
  raw?: string | Uint8Array<ArrayBuffer>
  channel?: string
}

export const postDev = async (
  url: string,
  { routingKey }: Pick<DevChannel, 'routingKey'>,
  { id = newId(), sender = 'ada', text = 'Hello', ...more }: DevPost = {},
  { secret = CHANNEL_SECRET, at = new Date(), headers = {}, raw, channel = 'dev' }: Signing = {},
) => {
  const body = raw ?? JSON.stringify({ routingKey, id, sender, text, ...more })
  const signed = signedHeaders(
    {
      id: newId(),
      at,
      body: typeof body === 'string' ? body : Buffer.from(body).toString('latin1'),
    },
    [secret],
  )
  const response = await fetch(`${url}/webhooks/channels/${channel}`, {
    method: 'POST',
    headers: { ...signed, ...headers },
    body,
  })
  const answer = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text: answer,
    body: answer.startsWith('{') ? JSON.parse(answer) : {},
  }
}

export interface ChannelJob {
  id: string
  status: string
  kind: string
  goal: string
  cause: { kind: string; id: string }
  on_behalf: { kind: string; id: string; personId: string | null }
  tools: string[] | null
  taint: string[]
  conversation_id: string
  message_id: string
}

/** Jobs of a channel, oldest first. */
export const channelJobs = async (
  { owner }: Pick<TestApp, 'owner'>,
  { tenantId, id }: Pick<DevChannel, 'tenantId' | 'id'>,
): Promise<ChannelJob[]> => [
  ...(await owner<
    ChannelJob[]
  >`select j.* from agent_job j join channel_message m on m.tenant_id = j.tenant_id
    and m.job_id = j.id
    where j.tenant_id = ${tenantId} and m.connection_id = ${id} order by j.id`),
]

/** Links a sender to a member, without a code. */
export const linked = async (
  { owner }: TestApp,
  { tenantId, id }: Pick<DevChannel, 'tenantId' | 'id'>,
  sender: string,
  personId?: string,
): Promise<string> => {
  const [person] = personId
    ? [{ person_id: personId }]
    : await owner`select person_id from member where tenant_id = ${tenantId} limit 1`
  const identity = newId()
  await owner`insert into channel_identity (id, tenant_id, connection_id, external_id, person_id,
    verified_at, created_at, updated_at)
    values (${identity}, ${tenantId}, ${id}, ${sender}, ${person!.person_id}, now(), now(), now())`
  return identity
}

/** Pretends that a sender began this many jobs an hour ago. `identity`: as a member. */
export const begunBefore = (
  { owner }: Pick<TestApp, 'owner'>,
  { tenantId, id }: Pick<DevChannel, 'tenantId' | 'id'>,
  { sender, identity = null, count }: { sender: string; identity?: string | null; count: number },
) =>
  owner`insert into channel_message
      (id, tenant_id, connection_id, state, sender, identity_id, thread, reply_to, created_at,
        updated_at)
    select gen_random_uuid(), ${tenantId}, ${id}, 'taken', ${sender}, ${identity}, 't', '{}',
      now() - interval '1 hour', now()
    from generate_series(1, ${count})`

/** Moves all of that a day into the past. */
export const dayLater = ({ owner }: Pick<TestApp, 'owner'>, { id }: Pick<DevChannel, 'id'>) =>
  owner`update channel_message set created_at = created_at - interval '1 day'
    where connection_id = ${id}`

/** Messages that arrived, oldest first. */
export const messagesOf = async (
  { owner }: Pick<TestApp, 'owner'>,
  { tenantId, id }: Pick<DevChannel, 'tenantId' | 'id'>,
) => [
  ...(await owner`select * from channel_message where tenant_id = ${tenantId}
    and connection_id = ${id} order by id`),
]

export const settledMessages = (
  app: Pick<TestApp, 'owner'>,
  channel: Pick<DevChannel, 'tenantId' | 'id'>,
  count: number,
) =>
  eventually(
    () => messagesOf(app, channel),
    (all) => all.length === count && all.every(({ state }) => state !== 'fetching'),
  )

/**
 * Makes the next try of all queued work of a kind due at once, for instance fetches. Running work
 * continues.
 */
export const hasten = (
  { workplace }: Pick<TestApp, 'workplace'>,
  { tenantId }: Pick<DevChannel, 'tenantId'>,
  kind: Work['kind'] = 'channel_fetch',
): Promise<void> =>
  workplace.world.ask(tenantId, {
    name: 'test.hasten',
    priority: 'interactive',
    provenance: { principal: { kind: 'system', id: 'test' }, surface: 'admin' },
    async decide(sql, { now }) {
      const queued = (await loadNow(sql, { all: workOfKinds([kind]) })).all.filter(
        ({ state }) => state === 'queued',
      )
      return {
        reply: undefined,
        effects: { requeued: queued.map(({ id }) => ({ id, runAt: now })) },
      }
    },
  })

/** The messages once all are decided, skipping the pauses between tries. */
export const hastenedMessages = (app: TestApp, channel: DevChannel) =>
  eventually(
    async () => {
      await hasten(app, channel)
      return messagesOf(app, channel)
    },
    (all) => all.length > 0 && all.every(({ state }) => state !== 'fetching'),
  )
