/**
 * Jobs of people outside the workspace: what they are shown is what the workspace shows to anybody.
 */
import { expect, test } from 'bun:test'
import { remember } from '#domain/agent/knowledge/memory'
import { newId } from '#kernel/ids'
import { insertMemory } from '#store/agent/memories'
import { messagesIn, overJob, stepsIn } from '#test/support/agent/agent'
import { makeDocument } from '#test/support/agent/documents'
import { write } from '#test/support/arrange'
import { connectionRow, strangersTurn } from '#test/support/channels/senders'
import { newWorkspace } from '#test/support/contract/prepare'
import { resultsIn, scriptedModel } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

type Calls = [name: string, args: object][]

const script: { calls: Calls } = { calls: [] }
const thinker = scriptedModel((asked, answers) =>
  answers === 0 ? { calls: script.calls } : { text: resultsIn(asked).join('\n') || 'none' },
)
const app = useApp({ overrides: { thinker } })

/** Stands in all that is private, and in nothing else. */
const CANARY = 'zanzibar'

const prepared = async () => {
  const workspace = await newWorkspace(app)
  const { key } = workspace
  const profile = { goal: `Sell ${CANARY}`, audience: `${CANARY} fans`, voice: CANARY }
  expect((await app.send('PUT', '/api/v1/growth/profile', { key, body: profile })).status).toBe(200)
  const playbooks = [
    { slug: 'answers', name: 'Answers', content: 'Be kind about returns.', pinned: true },
    { slug: 'secret-plan', name: `Plan ${CANARY}`, content: `Returns are ${CANARY}.` },
    { slug: 'archived', name: `Old ${CANARY}`, content: CANARY, pinned: true, archived: true },
  ]
  for (const { archived, ...body } of playbooks) {
    const made = await app.send('POST', '/api/v1/agent/playbooks', { key, body })
    expect(made.status).toBe(201)
    if (archived)
      await app.send('PATCH', `/api/v1/agent/playbooks/${made.body.playbook.id}`, {
        key,
        body: { status: 'archived' },
      })
  }
  const open = await makeDocument(workspace, {
    fileName: 'returns.md',
    content: '# Returns\n\nParcels come back within 30 days.',
    metadata: { public: true },
  })
  // So many that a search which looked at them all would find nothing else.
  const closed = await makeDocument(workspace, {
    fileName: `${CANARY}.md`,
    content: `# Prices\n\nParcels cost ${CANARY}.`,
  })
  for (const value of [false, 'true', 1, null])
    await makeDocument(workspace, {
      fileName: `${CANARY}.md`,
      content: `Parcels ${CANARY} ${value}`,
      metadata: { public: value },
    })
  const told = {
    id: newId(),
    scope: 'workspace' as const,
    person_id: null,
    text: `Parcels: ${CANARY}`,
    untrusted: false,
    job_id: null,
  }
  const { memory } = remember(
    { equal: undefined, count: 0, oldest: null },
    { ...told, now: new Date(0) },
  )
  await write(workspace, { writes: [insertMemory(memory, 'en')] })
  return { ...workspace, open, closed, connection: await connectionRow(workspace) }
}

const answered = async (
  place: Awaited<ReturnType<typeof prepared>>,
  content: string,
  calls: Calls,
  model?: string,
) => {
  script.calls = calls
  const turns = thinker.turns.length
  const job = await overJob(
    app,
    await strangersTurn(place, {
      connection: place.connection,
      content,
      ...(model ? { model } : {}),
    }),
  )
  const steps = await stepsIn(app, job.id)
  return {
    job,
    steps,
    messages: await messagesIn(app, job),
    asked: JSON.stringify(thinker.turns.slice(turns)),
  }
}

test('a stranger is given nothing of the workspace but pinned playbooks and public documents', async () => {
  const place = await prepared()
  const { job, steps, asked, messages } = await answered(
    place,
    `When do parcels come back? ${place.open.id} or ${place.closed.id}`,
    [
      ['search_documents', { query: `parcels ${CANARY}`, limit: 20 }],
      ['read_document', { id: place.open.id }],
      ['read_document', { id: place.closed.id }],
      ['list_playbooks', {}],
      ['list_playbooks', { status: 'archived' }],
      ['read_playbook', { slug: 'answers' }],
      ['read_playbook', { slug: 'secret-plan' }],
      ['read_playbook', { slug: 'archived' }],
      ['get_current_time', {}],
    ],
  )
  expect(job).toMatchObject({
    status: 'completed',
    taint: ['channel slack', 'search_documents', 'read_document'],
  })
  const outcomes = steps
    .filter(({ kind }) => kind === 'tool')
    .map(({ name, state }) => `${name} ${state}`)
  const reads = [
    'search_documents done',
    'read_document done',
    'read_document failed',
    'list_playbooks done',
    'list_playbooks done',
  ]
  expect(outcomes).toEqual([
    ...reads,
    'read_playbook done',
    'read_playbook failed',
    'read_playbook failed',
    'get_current_time done',
  ])
  expect(steps[3]!.error).toBe('no such document')
  // The call that asks for it has the word itself.
  expect(asked.replaceAll(`parcels ${CANARY}`, '')).not.toContain(CANARY)
  const answer = messages.at(-1)!.content
  expect(answer).not.toContain(CANARY)
  expect(answer).toContain('within 30 days')
  expect(answer).toContain('Be kind about returns')
  // Nor where the app is.
  expect(answer).not.toContain(app.url)
  expect(asked).toContain('You answer people outside of a workspace')
})

test('a stranger is offered five tools, and calls of others come to nothing', async () => {
  const place = await prepared()
  const others: Calls = [
    ...([
      ['growth_list_queue', {}],
      ['search_memories', { query: CANARY }],
      ['search_conversation', { query: 'x' }],
    ] as Calls),
    ...([
      ['use_tools', { names: ['remember'] }],
      ['remember', { text: 'x' }],
      ['fetch_url', { url: 'https://en.wikipedia.org/' }],
    ] as Calls),
    ...([
      ['delegate', { goal: 'x', tools: ['growth_list_queue'] }],
      ['growth_pause_all', {}],
    ] as Calls),
  ]
  const { steps, job } = await answered(place, 'Do it', others)
  for (const [index, [name]] of others.entries())
    expect(steps.filter(({ kind }) => kind === 'tool')[index]).toMatchObject({
      state: 'failed',
      error: `there is no tool ${name} in this job`,
    })
  expect(job).toMatchObject({ status: 'completed', tool_calls: 0 })
  const [turnAsked] = thinker.turns.slice(-1)
  expect(turnAsked!.tools.map(({ name }) => name).toSorted()).toEqual(
    [
      'get_current_time',
      'list_playbooks',
      'read_document',
      'read_playbook',
      'search_documents',
    ].toSorted(),
  )
})

test('without a model a stranger is quoted public texts, and shown no command', async () => {
  const place = await prepared()
  const quoted = await answered(place, 'When do parcels come back?', [], 'desk')
  expect(quoted.messages.at(-1)!.content).toContain('Parcels come back within 30 days.')
  for (const content of ['/help', '/items list', 'what next?', `Tell me of ${CANARY}`]) {
    const { messages, steps } = await answered(place, content, [], 'desk')
    expect(messages.at(-1)!.content).toBe(
      'I have no answer to this. Somebody who can answer has to read it.',
    )
    expect(steps.map(({ kind }) => kind)).toEqual(['model'])
  }
  // With a model, the model gets it.
  expect((await answered(place, '/help', [])).messages.at(-1)!.content).toBe('none')
})

test('a stranger is answered only while the connection is open to anyone', async () => {
  const place = await prepared()
  await app.owner`update channel_connection set sender_policy = 'members'
    where id = ${place.connection}`
  expect((await answered(place, 'Hello', [])).job).toMatchObject({
    status: 'failed',
    error: 'caller_gone',
  })
  expect((await answered({ ...place, connection: newId() }, 'Hello', [])).job).toMatchObject({
    status: 'failed',
    error: 'caller_gone',
  })
  // The id of another workspace's connection opens nothing.
  const other = await prepared()
  expect(
    (await answered({ ...place, connection: other.connection }, 'Hello', [])).job,
  ).toMatchObject({ error: 'caller_gone' })
})

test('nobody says in the app what a stranger could be told', async () => {
  const place = await prepared()
  const { job } = await answered(place, 'Hello', [])
  await app.owner`update agent_conversation set thread = 'stranger:x',
    connection_id = ${place.connection} where id = ${job.conversation_id}`
  const path = `/api/v1/agent/conversations/${job.conversation_id}/messages`
  const { status, body } = await app.send('POST', path, {
    key: place.key,
    body: { content: CANARY },
  })
  expect([status, body.error.code]).toEqual([409, 'conflict'])
  expect(body.error.message).toContain('somebody outside the workspace')
})
