/**
 * A conversation that has grown too long for the model: it is summarised before the next thought,
 * and nothing of it is lost.
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { ThinkError, type ThinkRequest } from '#port/model/thinker'
import { asKey, overJob, turn } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { setPlan } from '#test/support/database/writes'
import { scriptedModel } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

const FAST = 'fast-model'
const summaries = {
  answer: (_: ThinkRequest): string | Promise<string> => 'They want item:3 on Mondays.',
}
const usual = summaries.answer
const model = scriptedModel(async (asked, answers) => {
  if (asked.model === FAST) return { text: await summaries.answer(asked) }
  const said = asked.messages.findLast(({ role }) => role === 'user')!
  return said.text === 'look' && answers === 0
    ? { calls: [['get_current_time', {}]] }
    : { text: 'Fine.' }
})
const env = { OPENAI_API_KEY: 'key', MODEL_CONTEXT: '8000', MODEL_FAST: FAST }
const app = useApp({ overrides: { thinker: model }, env })

beforeEach(() => {
  summaries.answer = usual
  model.turns.length = 0
})

/** A conversation of so many messages of 900 bytes; 6,857 bytes fit. */
const talked = async (count: number, { untrusted = 0 } = {}) => {
  const { tenantId } = await app.newWorkspace()
  const conversation = newId()
  await app.owner`insert into agent_conversation (id, tenant_id, status,
    origin, next_seq, last_at, created_at, updated_at)
    values (${conversation}, ${tenantId}, 'active', 'app', ${count + 1}, now(), now(), now())`
  await app.owner`insert into agent_message (id, tenant_id, conversation_id, seq, role, content,
    author, untrusted, created_at, updated_at)
    select gen_random_uuid(), ${tenantId}, ${conversation}, n, case n % 2 when 1 then 'user'
      else 'assistant' end,
      rpad('message ' || n || ' ', 900, 'x'), '{"kind":"agent","id":"x"}', n = ${untrusted}, now(),
        now() from generate_series(1, ${count}) n`
  const by = await asKey(app, tenantId)
  const say = async (content = 'And now?') =>
    overJob(app, await turn(app, { content, by, conversation, tenantId }))
  const stored = async () =>
    (
      await app.owner`select summary, summarised_to, summary_untrusted,
        (select count(*)::int from agent_message m
      where m.conversation_id = c.id) as messages from agent_conversation c
        where id = ${conversation}`
    )[0]!
  return { say, stored, tenantId, conversation, by }
}

const stepsOf = async (id: string) =>
  (
    await app.owner`select kind, name, state, untrusted, error from agent_step where job_id = ${id}
      order by number`
  ).map(({ kind, name, state }) => `${kind} ${name} ${state}`)

/** What the model was given of the conversation, in the last thought. */
const given = (): string[] =>
  model.turns.findLast((one) => one.model !== FAST)!.messages.map(({ text }) => text)
const asked = (): ThinkRequest[] => model.turns.filter((one) => one.model === FAST)

describe('a long conversation', () => {
  test('is summarised by the fast model, once, in a step that is committed before the thought', async () => {
    const { say, stored } = await talked(12)
    const job = await say()
    expect(job).toMatchObject({
      status: 'completed',
      model_calls: 1,
      input_tokens: 400,
      output_tokens: 40,
    })
    expect(await stepsOf(job.id)).toEqual([`summary ${FAST} done`, 'model scripted done'])
    expect(await stored()).toEqual({
      summary: 'They want item:3 on Mondays.',
      summarised_to: 7,
      summary_untrusted: false,
      messages: 14,
    })
    const [request] = asked()
    expect([request!.tools, request!.choice, request!.messages.length]).toEqual([[], 'none', 1])
    expect(request!.messages[0]!.text.match(/message \d+/g)?.slice()).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((n) => `message ${n}`),
    )
    const [first, ...rest] = given()
    expect(first).toBe(
      '(summary of the 7 messages before these, which search_conversation finds: They want item:3 on Mondays.)',
    )
    expect(rest.map((text) => /^message \d+|^And now\?/.exec(text)?.[0])).toEqual(
      [8, 9, 10, 11, 12].map((n) => `message ${n}`).concat('And now?'),
    )
    await say()
    expect(asked()).toHaveLength(1)
  })

  test('that fits is not', async () => {
    const { say, stored } = await talked(6)
    expect(await stepsOf((await say()).id)).toEqual(['model scripted done'])
    expect((await stored()).summary).toBeNull()
  })

  test('is summarised again with the summary before, and its jobs take no more than three steps for it', async () => {
    const { say, stored } = await talked(60)
    const first = await say()
    expect((await stepsOf(first.id)).filter((step) => step.startsWith('summary'))).toHaveLength(3)
    expect((await stored()).summarised_to).toBe(21)
    expect(asked()[1]!.messages[0]!.text).toStartWith(
      'earlier summary: They want item:3 on Mondays.\n\nagent: message 8',
    )
    // Of what is not summarised, the newest are given, and the others are counted.
    expect(given()[1]).toMatch(
      /^\(\d+ earlier messages are left out here; search_conversation finds them\)$/,
    )
    const left = Number(/\d+/.exec(given()[1]!)![0])
    expect(given()).toHaveLength(2 + 61 - 21 - left)
    await say()
    expect((await stored()).summarised_to).toBe(42)
  })

  test('of many short messages is summarised too', async () => {
    const { say, stored, conversation } = await talked(120)
    await app.owner`update agent_message set content = left(content, 12)
      where conversation_id = ${conversation}`
    await say()
    expect((await stored()).summarised_to).toBe(80)
  })

  test('with words of strangers has a summary that is marked, and its jobs stay tainted', async () => {
    const { say, stored, conversation, tenantId } = await talked(12, { untrusted: 3 })
    const job = await say()
    expect(await stored()).toMatchObject({ summary_untrusted: true })
    const [step] = await app.owner`select untrusted from agent_step where job_id = ${job.id}
        and kind = 'summary'`
    expect(step!.untrusted).toBe('conversation')
    expect(JSON.parse(/\{.*\}/.exec(given()[0]!)![0])).toEqual({
      from: 'earlier messages',
      untrusted: 'They want item:3 on Mondays.',
    })
    await app.owner`update agent_message set untrusted = false
      where conversation_id = ${conversation}`
    const { api_key } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
    const sent = await app.send('POST', `/api/v1/agent/conversations/${conversation}/messages`, {
      key: api_key,
      body: { content: 'Go on' },
    })
    expect([sent.status, sent.body.job.taint]).toEqual([201, ['conversation']])
    await overJob(app, sent.body.job.id)
  })
})

describe('a summary that fails', () => {
  test.each<[string, () => string | Promise<string>, string]>([
    [
      'because the provider refuses it',
      () => Promise.reject(new ThinkError('unsupported')),
      'unsupported',
    ],
    ['because it is empty', () => ' \n', 'model_invalid'],
  ])('%s leaves out the oldest messages, and says how many', async (_, answer, error) => {
    summaries.answer = answer
    const { say, stored } = await talked(12)
    const job = await say()
    expect(job.status).toBe('completed')
    const [step] = await app.owner`select state, error from agent_step where job_id = ${job.id}
        and kind = 'summary'`
    expect(step).toEqual({ state: 'failed', error })
    expect(await stored()).toMatchObject({ summary: null, summarised_to: 0, messages: 14 })
    expect(given()[0]).toBe(
      '(5 earlier messages are left out here; search_conversation finds them)',
    )
    expect(given()).toHaveLength(9)
    summaries.answer = usual
    await say()
    expect((await stored()).summarised_to).toBe(7)
  })

  test('is not tried again within its job, whatever failed and however many thoughts follow', async () => {
    const { say, stored } = await talked(12)
    await say()
    summaries.answer = () => Promise.reject(new ThinkError('rate_limited'))
    for (const words of ['a', 'b', 'c'].map((letter) => letter.repeat(2_000))) await say(words)
    const [before, first] = [asked().length, model.turns.length]
    const job = await say('look')
    expect(job.status).toBe('completed')
    expect(await stepsOf(job.id)).toEqual([
      `summary ${FAST} failed`,
      'model scripted done',
      'tool get_current_time done',
      'model scripted done',
    ])
    expect(asked().length - before).toBe(1)
    // The former summary stays, and what stands in none and does not fit is counted in each
    // thought.
    const thoughts = model.turns.slice(first).filter((one) => one.model !== FAST)
    expect(thoughts).toHaveLength(2)
    for (const { messages } of thoughts) {
      expect(messages[0]!.text).toStartWith('(summary of the 7 messages before these')
      expect(messages[1]!.text).toMatch(
        /^\(\d+ earlier messages are left out here; search_conversation finds them\)$/,
      )
    }
    expect(await stored()).toMatchObject({ summarised_to: 7 })
  })

  test('because there is no budget for it lets the thought try', async () => {
    const { say, tenantId, stored } = await talked(12)
    // The estimate of the summary's request is more than 4,500 tokens.
    await setPlan(app, tenantId, { overrides: { agent_tokens_day: 600 } })
    expect(await say()).toMatchObject({
      status: 'failed',
      error: 'budget_exhausted:agent_tokens_day',
      input_tokens: 0,
    })
    expect(await stored()).toMatchObject({ summary: null })
  })
})

test('a job that waited while its conversation went on still answers its own message', async () => {
  const { say, conversation } = await talked(12)
  await say()
  // As if later messages had been summarised meanwhile.
  await app.owner`update agent_conversation set summarised_to = 99 where id = ${conversation}`
  await say('Which one?')
  expect(given().map((text) => text.slice(0, 11))).toEqual(['(summary of', 'Which one?'])
})

test('the trace shows the summary as a call of its model, and budgets count it', async () => {
  const { say, tenantId } = await talked(12)
  const job = await say()
  const { api_key } = await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)
  const { spans } = (await app.send('GET', `/api/v1/agent/jobs/${job.id}/trace`, { key: api_key }))
    .body
  const chats = spans.filter(({ name }: { name: string }) => name.startsWith('chat '))
  expect(
    chats.map((span: { name: string; attributes: Record<string, unknown> }) => [
      span.name,
      span.attributes['gen_ai.request.model'],
    ]),
  ).toEqual([
    [`chat ${FAST}`, FAST],
    ['chat scripted', 'scripted'],
  ])
  const usage = (await app.send('GET', '/api/v1/agent/usage', { key: api_key })).body.usage
  expect(usage.tokens_day).toBe(440)
})

test('and nothing is left open', async () => {
  expect(await brokenInvariants(app.owner)).toEqual([])
})
