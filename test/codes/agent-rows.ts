import { newId } from '#kernel/ids'
import { eventually } from '#test/support/app'
import { type Place, unreadable, unwritable } from './place.ts'
import type { Rows } from './row.ts'

const AGENT = '/api/v1/agent'

const newConversation = async ({ made }: Place): Promise<string> =>
  (await made('POST', `${AGENT}/conversations`, {})).conversation.id

/** A conversation in which the agent has answered, with the ids of both messages and of the job. */
const talked = async (place: Place) => {
  const conversation = await newConversation(place)
  const { message, job } = await place.made(
    'POST',
    `${AGENT}/conversations/${conversation}/messages`,
    { content: 'Hello' },
  )
  const { messages } = await eventually(
    () => place.made('GET', `${AGENT}/conversations/${conversation}`),
    (shown) => shown.messages.length === 2,
  )
  return {
    conversation,
    asked: message.id,
    job: job.id,
    answer: messages.find(({ role }: { role: string }) => role === 'assistant').id,
  }
}

const archived = async (place: Place): Promise<string> => {
  const id = await newConversation(place)
  await place.made('PATCH', `${AGENT}/conversations/${id}`, { status: 'archived' })
  return id
}

const TASK = { taskType: 'classify_text', input: { text: 'It is late', labels: ['late', 'early'] } }
const newTask = async ({ made }: Place): Promise<string> =>
  (await made('POST', `${AGENT}/tasks`, TASK)).task.id
const running = async (place: Place): Promise<string> => {
  const id = await newTask(place)
  await eventually(
    () => place.made('GET', `${AGENT}/tasks/${id}`),
    ({ task }) => task.status === 'running',
  )
  return id
}
/** Called off as a job, which a task that runs can be. */
const cancelled = async (place: Place): Promise<string> => {
  const id = await newTask(place)
  await place.made('POST', `${AGENT}/jobs/${id}/cancel`)
  return id
}

export const conversationRows: Rows = {
  'GET /api/v1/agent/conversations': {
    calls: ({ send }) => ({ 200: () => send('GET', `${AGENT}/conversations?limit=50`) }),
  },
  'POST /api/v1/agent/conversations': {
    body: {},
    calls: ({ send }) => ({
      201: () => send('POST', `${AGENT}/conversations`, { title: 'Late parcels' }),
      400: () => send('POST', `${AGENT}/conversations`, { title: '' }),
    }),
  },
  'GET /api/v1/agent/conversations/{id}': {
    calls: async (place) => {
      const id = await newConversation(place)
      return { 200: () => place.send('GET', `${AGENT}/conversations/${id}`) }
    },
  },
  'POST /api/v1/agent/conversations/{id}/messages': {
    body: { content: 'Hello' },
    calls: async (place) => {
      const [open, closed] = [await newConversation(place), await archived(place)]
      const send = (id: string, body: object) =>
        place.send('POST', `${AGENT}/conversations/${id}/messages`, body)
      return {
        201: () => send(open, { content: 'Hello' }),
        400: () => send(open, { content: '' }),
        409: () => send(closed, { content: 'Hello' }),
      }
    },
  },
  'GET /api/v1/agent/conversations/{id}/feedback': {
    calls: async (place) => {
      const id = await newConversation(place)
      return { 200: () => place.send('GET', `${AGENT}/conversations/${id}/feedback`) }
    },
  },
  'POST /api/v1/agent/conversations/{id}/feedback': {
    body: { messageId: newId(), verdict: 'up' },
    calls: async (place) => {
      const { conversation, asked, answer } = await talked(place)
      const send = (messageId: string) =>
        place.send('POST', `${AGENT}/conversations/${conversation}/feedback`, {
          messageId,
          verdict: 'down',
          correction: 'Shorter',
        })
      return {
        201: () => send(answer),
        400: () => send(asked),
        500: () => unwritable(place, 'agent_feedback', () => send(answer)),
      }
    },
  },
  'GET /api/v1/agent/feedback': {
    calls: ({ send }) => ({
      200: () => send('GET', `${AGENT}/feedback?verdict=down&limit=200`),
      400: () => send('GET', `${AGENT}/feedback?limit=201`),
    }),
  },
}

export const jobRows: Rows = {
  'GET /api/v1/agent/jobs/{id}': {
    calls: async (place) => {
      const { job } = await talked(place)
      return { 200: () => place.send('GET', `${AGENT}/jobs/${job}`) }
    },
  },
  'GET /api/v1/agent/jobs/{id}/trace': {
    calls: async (place) => {
      const { job } = await talked(place)
      const send = () => place.send('GET', `${AGENT}/jobs/${job}/trace`)
      return { 200: send, 500: () => unreadable(place, 'agent_step', send) }
    },
  },
  'POST /api/v1/agent/jobs/{id}/cancel': {
    calls: async (place) => {
      const { job } = await talked(place)
      return { 200: () => place.send('POST', `${AGENT}/jobs/${job}/cancel`) }
    },
  },
  'GET /api/v1/agent/approvals': {
    calls: ({ send }) => ({
      200: () => send('GET', `${AGENT}/approvals?status=pending&limit=50`),
      400: () => send('GET', `${AGENT}/approvals?status=open`),
    }),
  },
  'GET /api/v1/agent/usage': {
    calls: ({ send }) => ({ 200: () => send('GET', `${AGENT}/usage`) }),
  },
  'GET /api/v1/agent/analytics': {
    calls: ({ send }) => ({
      200: () => send('GET', `${AGENT}/analytics?window=30d`),
      400: () => send('GET', `${AGENT}/analytics?window=1d`),
    }),
  },
  'GET /api/v1/agent/tasks': {
    calls: ({ send }) => ({ 200: () => send('GET', `${AGENT}/tasks?status=queued&limit=50`) }),
  },
  'POST /api/v1/agent/tasks': {
    body: TASK,
    calls: (place) => ({
      201: () => place.send('POST', `${AGENT}/tasks`, { ...TASK, tier: 'fast', maxAttempts: 1 }),
      400: () => place.send('POST', `${AGENT}/tasks`, { ...TASK, maxAttempts: 6 }),
      500: () => unwritable(place, 'agent_job', () => place.send('POST', `${AGENT}/tasks`, TASK)),
    }),
  },
  'GET /api/v1/agent/tasks/{id}': {
    calls: async (place) => {
      const id = await newTask(place)
      return { 200: () => place.send('GET', `${AGENT}/tasks/${id}`) }
    },
  },
  'POST /api/v1/agent/tasks/{id}/cancel': {
    calls: async (place) => {
      const [over, busy] = [await cancelled(place), await running(place)]
      const send = (id: string) => place.send('POST', `${AGENT}/tasks/${id}/cancel`)
      return { 200: () => send(over), 409: () => send(busy) }
    },
  },
}

const newPlaybook = async ({ made }: Place) => {
  const slug = `p-${newId()}`
  const { playbook } = await made('POST', `${AGENT}/playbooks`, {
    slug,
    name: 'Voice',
    content: 'Plain words.',
  })
  const { version } = await made('POST', `${AGENT}/playbooks/${playbook.id}/versions`, {
    content: 'Short, plain words.',
  })
  return { id: playbook.id as string, slug, draft: version.id as string }
}
const rejected = async (place: Place) => {
  const { id, draft } = await newPlaybook(place)
  await place.made('POST', `${AGENT}/playbooks/${id}/versions/${draft}/reject`)
  return { id, draft }
}

export const playbookRows: Rows = {
  'GET /api/v1/agent/playbooks': {
    calls: ({ send }) => ({ 200: () => send('GET', `${AGENT}/playbooks?status=active`) }),
  },
  'POST /api/v1/agent/playbooks': {
    body: { slug: 'nobody', name: 'Voice', content: 'Plain words.' },
    calls: async (place) => {
      const { slug } = await newPlaybook(place)
      const send = (given: string) =>
        place.send('POST', `${AGENT}/playbooks`, {
          slug: given,
          name: 'Voice',
          content: 'Plain words.',
        })
      return {
        201: () => send(`q-${newId()}`),
        400: () => send('Not a slug'),
        409: () => send(slug),
      }
    },
  },
  'GET /api/v1/agent/playbooks/{id}': {
    calls: async (place) => {
      const { id } = await newPlaybook(place)
      return { 200: () => place.send('GET', `${AGENT}/playbooks/${id}`) }
    },
  },
  'PATCH /api/v1/agent/playbooks/{id}': {
    body: { name: 'Tone' },
    calls: async (place) => {
      const { id } = await newPlaybook(place)
      const send = (body: object) => place.send('PATCH', `${AGENT}/playbooks/${id}`, body)
      return { 200: () => send({ status: 'archived' }), 400: () => send({ status: 'gone' }) }
    },
  },
  'POST /api/v1/agent/playbooks/{id}/versions': {
    body: { content: 'Plain words.' },
    calls: async (place) => {
      const { id } = await newPlaybook(place)
      const send = (content: string) =>
        place.send('POST', `${AGENT}/playbooks/${id}/versions`, { content, rationale: 'Shorter' })
      return { 201: () => send('Words.'), 400: () => send('') }
    },
  },
  ...Object.fromEntries(
    ['activate', 'reject'].map((verb) => [
      `POST /api/v1/agent/playbooks/{id}/versions/{versionId}/${verb}`,
      {
        calls: async (place: Place) => {
          const [open, over] = [await newPlaybook(place), await rejected(place)]
          const send = ({ id, draft }: { id: string; draft: string }) =>
            place.send('POST', `${AGENT}/playbooks/${id}/versions/${draft}/${verb}`)
          return { 200: () => send(open), 400: () => send(over) }
        },
      },
    ]),
  ),
}
