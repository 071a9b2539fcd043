/**
 * Turns of conversations as the least that a chat keeps of them: the person's message is one
 * commit, the model is asked, its answer is another commit. No job, tools, budgets, events or
 * recovery. A process of its own.
 */
import { newId } from '#kernel/ids'
import { connectionOptionsOf } from '#server/database-url'
import { openPeer } from './peer-sql.ts'
import { serveLines } from './spawn.ts'

export interface TurnsPlan {
  /** Of each workspace, each in a conversation of its own. */
  turns: number
  tenants: string[]
  callers: number
  modelUrl: string
}

const sql = openPeer(connectionOptionsOf(process.env.DATABASE_URL ?? ''))

const begin = (tenant: string, conversation: string) => sql`with begun as (
    insert into agent_conversation (id, tenant_id, status,
      origin, next_seq, last_at, created_at, updated_at)
    values (${conversation}, ${tenant}, 'active', 'app', 3, now(), now(), now()))
  insert into agent_message (id, tenant_id, conversation_id, seq, role, content, author, untrusted,
    created_at, updated_at)
  values (${newId()}, ${tenant}, ${conversation}, 1, 'user', '[]', '{}', false, now(), now())`

const end = (tenant: string, conversation: string, text: string) => sql`
  insert into agent_message (id, tenant_id, conversation_id, seq, role, content, author, untrusted,
    model, created_at, updated_at)
  values (${newId()}, ${tenant}, ${conversation}, 2, 'assistant', ${text}, '{}', false, 'at-once',
    now(), now())`

/** The text of a streamed answer. */
const ask = async (url: string): Promise<string> => {
  const messages = [{ role: 'user', content: '[]' }]
  const body = {
    model: 'at-once',
    messages,
    max_completion_tokens: 4_000,
    stream: true,
    stream_options: { include_usage: true },
  }
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
  const pieces = (await reply.text()).split('\n').filter((line) => line.startsWith('data: {'))
  return pieces
    .map((line) => JSON.parse(line.slice('data: '.length)).choices[0]?.delta?.content ?? '')
    .join('')
}

const run = async ({ turns, tenants, callers, modelUrl }: TurnsPlan): Promise<number> => {
  const left = tenants.flatMap((tenant) => Array.from({ length: turns }, () => tenant))
  const caller = async (): Promise<void> => {
    for (let tenant = left.pop(); tenant; tenant = left.pop()) {
      const conversation = newId()
      await begin(tenant, conversation)
      await end(tenant, conversation, await ask(modelUrl))
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return tenants.length * turns
}

await serveLines(run)
await sql.end()
