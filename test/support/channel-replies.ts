/** Replies to channels in tests. */
import { replyEffects } from '#decisions/agent/channel-replies'
import type { ChannelReply } from '#domain/agent/channel-reply'
import { newReply } from '#domain/agent/channel-reply'
import { newId } from '#kernel/ids'
import { insertReply } from '#store/agent/channel-replies'
import { eventually, type TestApp } from './app.ts'
import { type Workspace, write } from './arrange.ts'
import { makeChannel } from './channels.ts'

/** One that is held, of a connection of its own. Gives its id. */
export const makeReply = async (workspace: Workspace, more: Partial<ChannelReply> = {}): Promise<string> => {
  const connection_id = more.connection_id ?? (await makeChannel(workspace))
  const ids = { id: newId(), connection_id, job_id: null, message_id: null, conversation_id: null }
  const said = { recipient: 'Ada (U1)', reply_to: { sender: 'U1', thread: null }, text: 'We open at *nine*.' }
  const reply = { ...newReply({ ...ids, ...said }, { why: 'Somebody outside asked.', now: new Date() }), ...more }
  await write(workspace, { writes: [insertReply(reply)] })
  return reply.id
}

interface Replied {
  tenantId: string
  connection: string
  text: string
  sender?: string
  held?: boolean
  job?: string
}

/** Replies as the product does. Gives the reply's id. */
export const reply = async (app: TestApp, { tenantId, connection, text, sender = 'U1', held, job }: Replied): Promise<string> => {
  const at = { connection: { id: connection, channel: 'dev' as const }, replyTo: { sender, thread: null }, recipient: sender, text }
  await app.workplace.world.ask(tenantId, {
    ...{ name: 'test.reply', priority: 'interactive', provenance: { principal: { kind: 'system', id: 'lane' }, surface: 'lane' } },
    decide: async (_, { now }) => ({
      reply: undefined,
      effects: replyEffects({
        ...at,
        ...(held ? { held: { publicUrl: 'http://localhost', why: 'Somebody outside asked.' } } : {}),
        job,
        now,
      }),
    }),
  })
  const [row] = await app.owner<{ id: string }[]>`select id from channel_reply where connection_id = ${connection} and text = ${text}
    order by id desc limit 1`
  return row!.id
}

export const replyRow = async ({ owner }: Pick<TestApp, 'owner'>, id: string): Promise<ChannelReply> =>
  (await owner<ChannelReply[]>`select * from channel_reply where id = ${id}`)[0]!

/** Once it has one of these statuses. */
export const replyOnce = (app: Pick<TestApp, 'owner'>, id: string, ...statuses: ChannelReply['status'][]): Promise<ChannelReply> =>
  eventually(
    () => replyRow(app, id),
    ({ status }) => statuses.includes(status),
  )
