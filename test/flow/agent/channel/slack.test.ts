/** What conversations in Slack have of their own. */
import { expect, test } from 'bun:test'
import { channelJobs, linked } from '#test/support/channels/dev-posts'
import { connectedPlace } from '#test/support/channels/place'
import { direct, slackEvent } from '#test/support/channels/slack-posts'
import { slackStory } from '#test/support/channels/slack-story'
import { useChannels } from '#test/support/channels/world'

const world = useChannels()

/** In which these senders are members. */
const membersStory = async (...senders: string[]) => {
  const story = await slackStory(world)
  for (const sender of senders) await linked(world.app, story, sender)
  return story
}

test('Slack proves the connection, and its challenge is answered', async () => {
  const { get, id, team, deliver } = await slackStory(world)
  expect(await get(id)).toMatchObject({
    status: 'active',
    routingKey: `${team.teamId}:${team.appId}`,
    lastError: null,
    config: { botUserId: team.botUserId, teamName: 'Subarachnoid Workspace' },
  })
  const challenge = { token: 'x', challenge: 'abc', type: 'url_verification' }
  expect(await deliver(challenge, { secret: 'not ours' })).toEqual({
    status: 200,
    body: '{"challenge":"abc"}',
  })
})

test('a thread is a conversation, which its members share, and is answered there in Slack’s form', async () => {
  const story = await membersStory('U0ADA', 'U0BOB')
  const thread = await story.mentions('U0ADA', 'what is due?')
  await story.reads({ thread }, 1)
  await story.mentions('U0BOB', 'use get_current_time', thread)
  expect(await story.reads({ thread }, 2)).toEqual([
    '*1.* You said: what is due?',
    '*2.* You said: use get_current_time The tool gave 1 result.',
  ])
  const other = await story.mentions('U0ADA', 'something else')
  expect(await story.reads({ thread: other }, 1)).toEqual(['*1.* You said: something else'])
})

test('a direct message is answered directly, without a thread', async () => {
  const story = await membersStory('U0ADA')
  const said = await story.says('U0ADA', 'is <https://example.com|this> right &amp; good?')
  expect(await said.answers(1)).toEqual([
    '*1.* You said: is this (<https://example.com>) right &amp; good?',
  ])
})

test('a picture is named', async () => {
  const story = await membersStory('U0ADA')
  const photo = { id: 'F0PHOTO', name: 'shop.jpg', mimetype: 'image/jpeg', size: 999 }
  const shared = { subtype: 'file_share', files: [{ ...photo, mode: 'hosted' }] }
  const said = direct('our shop', { user: 'U0ADA', team: story.team.teamId, ...shared })
  expect((await story.deliver(slackEvent(said, {}, story.team))).status).toBe(200)
  const [answer] = await story.reads({ channel: 'D0PNCRP9N' }, 1)
  expect(answer).toContain('only text and Markdown are read')
})

test('an event is taken by one of two connections: that of the app, before that of the team', async () => {
  const ofApp = await slackStory(world, { senderPolicy: 'anyone' })
  const { teamId, token, signingSecret } = ofApp.team
  const ofTeam = await connectedPlace(world, {
    channel: 'slack',
    routingKey: teamId,
    senderPolicy: 'anyone',
    credentials: { botToken: token, signingSecret },
  })
  expect((await ofApp.says('U0ADA', 'Who am I?')).status).toBe(200)
  const jobs = [await channelJobs(world.app, ofApp), await channelJobs(world.app, ofTeam)]
  expect(jobs.map(({ length }) => length)).toEqual([1, 0])
})
