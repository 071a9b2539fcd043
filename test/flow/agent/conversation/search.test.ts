/** What the agent finds in the earlier messages of a conversation. */
import { expect, test } from 'bun:test'
import { scopes } from '#kernel/scopes'
import { overJob, stepsIn, turn } from '#test/support/agent/agent'
import { newSurface } from '#test/support/agent/surface'
import { resultsIn, scriptedModel } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

const script = { query: '' }
const app = useApp({
  overrides: {
    thinker: scriptedModel((asked, answers) =>
      answers === 0
        ? { calls: [['search_conversation', { query: script.query }]] }
        : { text: resultsIn(asked).join('').includes('Porters') ? 'found' : 'not found' },
    ),
  },
})

test.each([
  ['Porters of “l’hôtel”', 'hôtel', 'found'],
  ['Porters of “l’hôtel”', 'ho\u0302tel', 'found'],
  ['Porters of l’ho\u0302tel🎉', 'hôtel', 'found'],
  ['Porters of l’ho\u0302tel', 'hôtel parcels', 'not found'],
])('%p, looked for by %p, is %s', async (content, query, found) => {
  const { tenantId } = await newSurface(app)
  const { id } = await app.newKey([...scopes], tenantId)
  script.query = query
  const job = await overJob(
    app,
    await turn(app, { content, by: { kind: 'key', id, personId: null }, tenantId }),
  )
  expect((await stepsIn(app, job.id)).map(({ name, state }) => [name, state])).toContainEqual([
    'search_conversation',
    'done',
  ])
  const [message] = await app.owner`select content from agent_message where job_id = ${job.id}
      and role = 'assistant'`
  expect(message!.content).toBe(found)
})
