/** Replies to channels in tests. */
import { replyEffects } from '#decisions/agent/channel-replies'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { newReply } from '#domain/agent/channel/reply'
import { newId } from '#kernel/ids'
import { insertReply } from '#store/agent/channel-replies'
import { eventually, type TestApp } from '../app.ts'
import { type Workspace, write } from '../arrange.ts'
import type { Receiver } from '../http/receiver.ts'
import { channelAdmin, makeChannel } from './channels.ts'
import { hasten } from './dev-posts.ts'

/** Makes a reply that may or may not have arrived. */
const inDoubt: Partial<ChannelReply> = {
  status: 'unknown',
  error: 'it broke off',
  parts: [
    {
      text: 'We open at nine.',
      state: 'unknown',
      external_id: null,
      error: 'it broke off',
      tried_at: null,
      in_doubt: false,
    },
  ],
}

/** A held reply of its own connection. Returns its id. */
export const makeReply = async (
  workspace: Workspace,
  more: Partial<ChannelReply> = {},
): Promise<string> => {
  const connection_id = more.connection_id ?? (await makeChannel(workspace))
  const ids = { id: newId(), connection_id, job_id: null, message_id: null, conversation_id: null }
  const said = {
    recipient: 'Ada (U1)',
    reply_to: { sender: 'U1', thread: null },
    text: 'We open at *nine*.',
  }
  const reply = {
    ...newReply({ ...ids, ...said }, { why: 'Somebody outside asked.', now: new Date() }),
    ...more,
  }
  await write(workspace, { writes: [insertReply(reply)] })
  return reply.id
}

/** As the person sees it who must settle it. */
export const makeReplyInDoubt = async (
  workspace: Workspace,
  more: Partial<ChannelReply> = {},
): Promise<{ id: string; updatedAt: string }> => {
  const now = new Date()
  return {
    id: await makeReply(workspace, { ...inDoubt, ...more, updated_at: now }),
    updatedAt: now.toISOString(),
  }
}

interface Replied {
  tenantId: string
  connection: string
  text: string
  sender?: string
  held?: boolean
  job?: string
}

/** Replies as the product does. Returns the reply's id. */
export const reply = async (
  app: TestApp,
  { tenantId, connection, text, sender = 'U1', held, job }: Replied,
): Promise<string> => {
  const at = {
    connection: { id: connection, channel: 'dev' as const },
    replyTo: { sender, thread: null },
    recipient: sender,
    text,
  }
  await app.workplace.world.ask(tenantId, {
    name: 'test.reply',
    priority: 'interactive',
    provenance: { principal: { kind: 'system', id: 'lane' }, surface: 'lane' },
    decide: async (_, { now }) => ({
      reply: undefined,
      effects: replyEffects({
        ...at,
        ...(held
          ? { held: { publicUrl: 'http://localhost', why: 'Somebody outside asked.' } }
          : {}),
        job,
        now,
      }),
    }),
  })
  const [row] = await app.owner<
    { id: string }[]
  >`select id from channel_reply where connection_id = ${connection} and text = ${text}
    order by id desc limit 1`
  return row!.id
}

/**
 * Replies with `say`, from a connection whose turn comes once all replies wait, so their times do
 * not reveal their order. Returns their ids.
 */
export const sayTogether = async (
  app: TestApp,
  { tenantId, connection }: Pick<Replied, 'tenantId' | 'connection'>,
  say: (text: string) => Promise<string>,
  ...texts: string[]
): Promise<string[]> => {
  await app.owner`update channel_connection set next_out_at = now() + interval '1 hour'
    where id = ${connection}`
  const ids: string[] = []
  for (const text of texts) ids.push(await say(text))
  await eventually(
    () => app.owner`select 1 from work where kind = 'channel_reply' and ref_id = any(${ids})
      and state = 'queued'
      and run_at > now() + interval '10 minutes'`,
    ({ length }) => length === ids.length,
  )
  await app.owner`update channel_connection set next_out_at = now() - interval '1 minute'
    where id = ${connection}`
  await hasten(app, { tenantId }, 'channel_reply')
  return ids
}

/**
 * A connection of the dev channel whose replies go to a receiver. To an address of its own: a reply
 * of the test before may come while this one runs.
 */
export const replyingPlace = async (app: TestApp, receiver: Receiver) => {
  const { tenantId } = await app.newWorkspace()
  const admin = await channelAdmin(app, tenantId)
  const path = `/${newId()}`
  const url = new URL(path, receiver.url).href
  const connection = await admin.active({ config: { url } })
  const say = (text: string, more: Pick<Replied, 'held' | 'sender'> = {}) =>
    reply(app, { tenantId, connection, text, ...more })
  const bodies = () =>
    receiver.requests.filter((one) => one.url === path).map(({ body }) => JSON.parse(body))
  const texts = () => bodies().map(({ text }) => text)
  return { tenantId, connection, url, say, bodies, texts, ...admin }
}

export const replyRow = async (
  { owner }: Pick<TestApp, 'owner'>,
  id: string,
): Promise<ChannelReply> =>
  (await owner<ChannelReply[]>`select * from channel_reply where id = ${id}`)[0]!

/** The reply once it has one of these statuses. */
export const replyOnce = (
  app: Pick<TestApp, 'owner'>,
  id: string,
  ...statuses: ChannelReply['status'][]
): Promise<ChannelReply> =>
  eventually(
    () => replyRow(app, id),
    ({ status }) => statuses.includes(status),
  )

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Admin = { send(method: string, path: string): Promise<{ body: any }> }

/** The replies with this status, newest first, once there are any. */
export const repliesWith = ({ send }: Admin, status: string) =>
  eventually(
    async () => (await send('GET', `channels/replies?status=${status}`)).body.replies,
    ({ length }) => length > 0,
  )
