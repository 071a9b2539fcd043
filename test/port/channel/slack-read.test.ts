/** What Slack's posts become. */
import { describe, expect, test } from 'bun:test'
import { readSlackPost } from '#port/channel/slack/read'
import {
  direct,
  install,
  mention,
  slackConnection,
  slackEvent,
  slackPost,
} from '#test/support/channels/slack-posts'

type Json = Record<string, unknown>

const connection = slackConnection()
const read = (event: Json, envelope: Json = {}) =>
  readSlackPost(slackPost(slackEvent(event, envelope)), connection)
const one = (event: Json, envelope: Json = {}) => {
  const messages = read(event, envelope)
  expect(messages).toHaveLength(1)
  return messages[0]!
}

describe('a mention', () => {
  test('begins a thread under itself', () => {
    expect(one(mention('what is due?'), { event_id: 'Ev0MDYHUEL' })).toEqual({
      eventIds: ['Ev0MDYHUEL', 'C0LAN2Q65:1515449522.000016'],
      sender: { id: 'U061F7AUR', name: null },
      thread: 'C0LAN2Q65:1515449522.000016',
      isShared: true,
      subject: null,
      text: 'what is due?',
      attachments: [],
      replyTo: { channel: 'C0LAN2Q65', thread: '1515449522.000016' },
      directTo: { channel: 'U061F7AUR' },
      toFetch: null,
    })
  })

  test('in a thread stays in it', () => {
    const message = one(
      mention('and now?', { ts: '1515449600.000200', thread_ts: '1515449522.000016' }),
    )
    expect(message).toMatchObject({
      thread: 'C0LAN2Q65:1515449522.000016',
      replyTo: { channel: 'C0LAN2Q65', thread: '1515449522.000016' },
    })
  })

  test('is the same event whether Slack tells of it as a mention or as a message, under whatever event id', () => {
    const [first, second] = [one(mention('x')), one(mention('x'))]
    expect(first.eventIds[0]).not.toBe(second.eventIds[0])
    expect(first.eventIds[1]).toBe(second.eventIds[1]!)
  })
})

describe('a direct message', () => {
  test('is answered without a thread', () => {
    expect(one(direct('hello'))).toMatchObject({
      thread: 'D0PNCRP9N',
      isShared: false,
      replyTo: { channel: 'D0PNCRP9N' },
      text: 'hello',
    })
  })

  test('in a thread is answered there', () => {
    const message = one(direct('hello', { thread_ts: '1515449483.000001' }))
    expect(message).toMatchObject({
      thread: 'D0PNCRP9N:1515449483.000001',
      replyTo: { channel: 'D0PNCRP9N', thread: '1515449483.000001' },
    })
  })

  test('carries the name of the sender where Slack gives it', () => {
    expect(
      one(direct('x', { user_profile: { real_name: 'Ada Lovelace', display_name: 'ada' } })).sender
        .name,
    ).toBe('Ada Lovelace')
    expect(
      one(direct('x', { user_profile: { real_name: '', display_name: 'ada' } })).sender.name,
    ).toBe('ada')
  })
})

test('a person of another company, in a shared channel, carries the workspace in the id and is not written to directly', () => {
  const foreign = one(mention('x', { user_team: 'T0OTHER', team: 'T0OTHER' }), {
    is_ext_shared_channel: true,
  })
  expect(foreign).toMatchObject({ sender: { id: 'U061F7AUR@T0OTHER' }, directTo: null })
  expect(one(mention('x', { user_team: install.teamId })).sender.id).toBe('U061F7AUR')
})

test.each([
  ['our own', direct('x', { user: install.botUserId })],
  ['another bot’s', direct('x', { bot_id: 'B012' })],
  [
    'a bot’s in the old form',
    direct('x', { subtype: 'bot_message', user: undefined, bot_id: 'B012' }),
  ],
  ['a mention by a bot', mention('x', { bot_id: 'B012', bot_profile: { app_id: 'A1' } })],
  ['Slackbot’s', direct('x', { user: 'USLACKBOT' })],
  [
    'an edit',
    direct('', {
      subtype: 'message_changed',
      hidden: true,
      message: { text: 'edited' },
      user: undefined,
    }),
  ],
  ['an edited mention', mention('x', { edited: { user: 'U061F7AUR', ts: '1515449600.0' } })],
  ['a deletion', direct('', { subtype: 'message_deleted', hidden: true })],
  ['a join', direct('<@U061F7AUR> has joined', { subtype: 'channel_join' })],
  [
    'a message in a channel that does not mention us',
    direct('x', { channel_type: 'channel', channel: 'C0LAN2Q65' }),
  ],
  ['a message in a group', direct('x', { channel_type: 'mpim', channel: 'G0LAN2Q65' })],
  [
    'a reaction',
    {
      type: 'reaction_added',
      user: 'U061F7AUR',
      reaction: '+1',
      item: { type: 'message', channel: 'D0PNCRP9N', ts: '1.0' },
    },
  ],
  ['one without a sender', direct('x', { user: undefined })],
  ['one without a channel', direct('x', { channel: undefined })],
  ['one whose time is no time', direct('x', { ts: 'now' })],
  ['nothing but our name', mention('')],
])('left out: %s', (_, event) => {
  expect(read(event)).toEqual([])
})

test('only events hold messages', () => {
  expect(
    readSlackPost(
      slackPost({
        type: 'app_rate_limited',
        team_id: install.teamId,
        api_app_id: install.appId,
        minute_rate_limited: 1,
      }),
      connection,
    ),
  ).toEqual([])
})

describe('files', () => {
  const file = {
    id: 'F0TD00400',
    name: 'prices.md',
    mimetype: 'text/markdown',
    size: 2_048,
    mode: 'snippet',
    url_private: 'https://files.slack.com/files-pri/T1-F1/prices.md',
  }

  test('come with the message that shares them, with or without text', () => {
    const message = one(
      direct('', {
        subtype: 'file_share',
        files: [{ ...file, url_private_download: `${file.url_private}/download` }],
      }),
    )
    expect(message).toMatchObject({ text: '' })
    const ref = {
      id: 'F0TD00400',
      url: 'https://files.slack.com/files-pri/T1-F1/prices.md/download',
    }
    expect(message.attachments).toEqual([
      { name: 'prices.md', mimeType: 'text/markdown', byteSize: 2_048, ref },
    ])
  })

  test('without an address are asked for by their id', () => {
    const shared = { id: 'F0TD00400', mode: 'snippet', file_access: 'check_file_info', created: 0 }
    expect(one(mention('look', { files: [shared] })).attachments).toEqual([
      {
        name: 'file',
        mimeType: 'application/octet-stream',
        byteSize: null,
        ref: { id: 'F0TD00400' },
      },
    ])
  })

  test.each(['external', 'tombstone', 'hidden_by_limit'])(
    'of mode %s cannot be fetched',
    (mode) => {
      expect(one(mention('look', { files: [{ ...file, mode }] })).attachments[0]!.ref).toBeNull()
    },
  )

  test('a message that is passed on comes as a file, apart from what the sender says', () => {
    const attachments = [
      { is_share: true, author_name: 'Eve', text: 'approve &lt;all&gt;', from_url: 'https://x' },
      { title: 'a preview' },
    ]
    const message = one(direct('see below', { attachments }))
    expect(message.text).toBe('see below')
    const ref = { text: 'Eve wrote:\n\napprove <all>' }
    expect(message.attachments).toEqual([
      { name: 'forwarded message.txt', mimeType: 'text/plain', byteSize: 25, ref },
    ])
    expect(one(direct('', { attachments: [{ is_share: true }] })).attachments[0]!.ref).toBeNull()
  })
})

test('text of many open brackets is read in a moment', () => {
  const text = one(direct('<@U0LAN0Z89|'.repeat(8_000))).text
  expect(text!.length).toBe(40_000)
})

test('text that cannot be stored becomes text that can', () => {
  expect(one(direct('a\u0000b\ud800c')).text).toBe('ab\ufffdc')
})
