/**
 * Feedback names the versions of playbooks that the answer rests on: those that its job was given,
 * whatever holds now.
 */
import { expect, test } from 'bun:test'
import { messagesIn, overJob, turn } from '#test/support/agent/agent'
import { playbookModel, playbookStory } from '#test/support/agent/playbooks'
import { resultsIn } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

const model = playbookModel()
const app = useApp({ model: model.thinker })

const setUp = async () => {
  const story = await playbookStory(app, model)
  const { send, made, draft, decide, says, person } = story
  const renew = async (id: string, content: string) =>
    decide(id, (await draft(id, content)).id, 'activate')
  /** Feedback on what the agent answers. */
  const judged = async (answer: Parameters<typeof says>[0]) => {
    const { job } = await says(answer)
    const conversation = job.conversation_id
    return async () => {
      const { messages } = (await send('GET', `conversations/${conversation}`)).body
      const { id: messageId } = messages.find(({ role }: { role: string }) => role === 'assistant')
      const given = await send(
        'POST',
        `conversations/${conversation}/feedback`,
        { messageId, verdict: 'up' },
        person.key,
      )
      return given.body.feedback.metadata
    }
  }
  return { ...story, send, made, renew, judged }
}

test('those in the prompt, and those that the agent read', async () => {
  const { made, renew, judged } = await setUp()
  const pinned = await made({ pinned: true })
  const read = await made({ slug: 'replies', content: 'Thank them first.' })
  await made({ slug: 'unread', content: 'Nobody asks.' })
  await renew(read.id, 'Thank them last.')
  const give = await judged((asked, answers) =>
    answers === 0
      ? { calls: [['read_playbook', { slug: 'replies' }]] }
      : { text: resultsIn(asked).join() },
  )
  // What changes after the answer says nothing about it.
  await renew(pinned.id, 'Never mention the price.')
  expect(await give()).toEqual({
    model: 'scripted',
    tools: ['read_playbook'],
    playbooks: [
      { slug: 'launch-posts', version: 1 },
      { slug: 'replies', version: 2 },
    ],
  })
})

test('none where there is none, nor where the agent did not get it', async () => {
  const { made, judged } = await setUp()
  await made()
  const give = await judged((asked, answers) =>
    answers === 0
      ? { calls: [['read_playbook', { slug: 'launch' }]] }
      : { text: resultsIn(asked).join() },
  )
  expect(await give()).toMatchObject({ playbooks: [] })
})

test('those of a sub-agent too', async () => {
  const { made, by, send, person, tenantId } = await setUp()
  await made()
  model.script.answer = ({ messages }, answers) => {
    const isChild = messages.some(({ text }) => text === 'read it')
    if (answers > 0) return { text: 'Done.' }
    return {
      calls: [
        isChild
          ? ['read_playbook', { slug: 'launch-posts' }]
          : ['delegate', { goal: 'read it', tools: ['read_playbook'] }],
      ],
    }
  }
  const job = await overJob(app, await turn(app, { content: 'go', by, tenantId }))
  expect((await messagesIn(app, job)).at(-1)).toEqual({ role: 'assistant', content: 'Done.' })
  const { messages } = (await send('GET', `conversations/${job.conversation_id}`)).body
  const messageId = messages.find(({ role }: { role: string }) => role === 'assistant').id
  const { body } = await send(
    'POST',
    `conversations/${job.conversation_id}/feedback`,
    { messageId, verdict: 'up' },
    person.key,
  )
  expect(body.feedback.metadata.playbooks).toEqual([{ slug: 'launch-posts', version: 1 }])
})

test('are unknown once the steps of the job are gone', async () => {
  const { made, judged, tenantId } = await setUp()
  await made({ pinned: true })
  const give = await judged(() => ({ text: 'Done.' }))
  await app.owner`delete from agent_step where tenant_id = ${tenantId}`
  expect(await give()).toMatchObject({ playbooks: null })
})
