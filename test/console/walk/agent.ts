/** What the agent asks: a call with another text, and an answer to a stranger. */
import { plannedReply, planText } from '#test/support/agent/plan'
import { CHANNEL_SECRET } from '#test/support/channels/channels'
import { type DevChannel, postDev } from '#test/support/channels/dev-posts'
import { eventually } from '#test/support/eventually'
import type { ChatReply, ChatRequest } from '#test/support/model/fake-chat'
import { itemOf, openRow, writeDraft } from './posting.ts'
import { requireThat, succeeded, type World } from './world.ts'

const ANSWER = 'We open at *nine*, and close at six.'
const SENT = 'We open at *ten*.'
const BEFORE = 'Shipping on Fridays is a habit.'
const AFTER = 'Shipping on Fridays is a choice.'

/** Does what the owner's message says; tells strangers when we open. */
export const answer = (request: ChatRequest): ChatReply => {
  const said = request.messages.findLast(({ role }) => role === 'user')?.content ?? ''
  return said.startsWith('[') ? plannedReply(request) : { text: ANSWER }
}

export const allowCall = async (world: World): Promise<void> => {
  const { desk, log, send, pressed } = world
  const id = await writeDraft(world, BEFORE)
  const content = planText([[['growth_approve_item', { id }]]])
  await succeeded(send('POST', '/api/v1/agent/messages', { body: { content } }))
  await desk.goTo('inbox')
  await desk.sees('The agent asks')
  await openRow(world, BEFORE)
  await desk.use('Look at its call')
  await desk.waitForPath(/\/call\//)
  await desk.sees('Allow once')
  await desk.press('e')
  await desk.read(`document.activeElement?.value`, (is) => is === BEFORE)
  await desk.press('Control+A')
  await desk.type(AFTER)
  await desk.sees('Your changes')
  await desk.press('Control+Enter')
  await desk.read<string>(`document.querySelector('.followed')?.innerText ?? ''`, (followed) =>
    followed.startsWith('Done'),
  )
  const item = await itemOf(world, id)
  requireThat(item.status === 'approved' && item.body === AFTER, 'the changed text is approved')
  pressed.set(id, { how: 'no time', text: AFTER })
  log('a call was allowed with another text, and its outcome is Done')
}

export const connectChannel = async ({ send, receiver }: World): Promise<DevChannel> => {
  const body = {
    channel: 'dev',
    routingKey: 'desk',
    senderPolicy: 'anyone',
    credentials: { secret: CHANNEL_SECRET },
    config: { url: receiver.url },
  }
  const { connection } = await succeeded(send('POST', '/api/v1/channels', { body }))
  await eventually(
    async () => (await succeeded(send('GET', `/api/v1/channels/${connection.id}`))).connection,
    ({ status }) => status === 'active',
  )
  return { id: connection.id, tenantId: '', routingKey: 'desk' }
}

export const sendReply = async (world: World, channel: DevChannel): Promise<void> => {
  const { binary, desk, log, receiver } = world
  await postDev(binary.url, channel, { sender: 'stranger', text: 'When do you open?' })
  await desk.goTo('inbox')
  await openRow(world, 'We open at')
  await desk.sees('stranger wrote')
  await desk.press('e')
  await desk.read(`document.activeElement?.value`, (is) => is === ANSWER)
  await desk.press('Control+A')
  await desk.type(SENT)
  await desk.press('Control+Enter')
  await desk.sees('Let go')
  const [request] = await receiver.received(1)
  const { text } = JSON.parse(request!.body)
  requireThat(text === SENT, `the stranger got the edited answer, not ${text}`)
  log('a held reply was edited and let go, and the channel got that text alone')
}
