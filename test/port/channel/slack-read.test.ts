/** What Slack's posts become. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readPost, routeOf } from '#port/channel/slack/read'
import { plainTextOf } from '#port/channel/slack/text'
import { direct, install, mention, slackConnection, slackEvent, slackPost } from '#test/support/channels/slack-posts'
import { runs } from '#test/support/property'

type Json = Record<string, unknown>

const connection = slackConnection()
const read = (event: Json, envelope: Json = {}) => readPost(slackPost(slackEvent(event, envelope)), connection)
const one = (event: Json, envelope: Json = {}) => {
  const messages = read(event, envelope)
  expect(messages).toHaveLength(1)
  return messages[0]!
}

describe('handshakes', () => {
  test('the challenge of an address comes back, and nothing else of the post counts', () => {
    const post = slackPost({
      token: 'x',
      challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
      type: 'url_verification',
      team_id: 'T1',
    })
    expect(routeOf(post)).toEqual({
      ...{ kind: 'handshake', status: 200, contentType: 'application/json' },
      body: '{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}',
    })
  })

  test.each([
    ['a form', slackPost('ssl_check=1&token=abc')],
    ['the query', { ...slackPost(''), url: 'https://tendril.example.com/webhooks/channels/slack?ssl_check=1' }],
  ])('a check of the certificate, in %s, is answered with 200', (_, post) => {
    expect(routeOf(post)).toMatchObject({ kind: 'handshake', status: 200, body: '' })
  })

  test.each([
    ['a challenge that is no text', { type: 'url_verification', challenge: 7 }],
    ['an empty object', {}],
    ['a list', [] as object],
    ['a team that is none', slackEvent(mention('x'), { authorizations: [], context_team_id: null, team_id: 'C012' })],
  ])('%s names nobody', (_, body) => {
    expect(routeOf(slackPost(body))).toEqual({ kind: 'unknown' })
  })
})

describe('routes', () => {
  test('a post names its workspace with the app, then alone', () => {
    expect(routeOf(slackPost(slackEvent(mention('x'))))).toEqual({ kind: 'keys', keys: ['T061EG9R6:A0MDYCDME', 'T061EG9R6'] })
  })

  test('in a shared channel the installation counts, not the workspace where the event occurred', () => {
    const shared = slackEvent(mention('x'), { team_id: 'T0OTHER', is_ext_shared_channel: true })
    expect(routeOf(slackPost(shared))).toEqual({ kind: 'keys', keys: ['T061EG9R6:A0MDYCDME', 'T061EG9R6'] })
  })

  test('an old post without installations names its own workspace', () => {
    const { authorizations: _, context_team_id: __, ...old } = slackEvent(mention('x'))
    expect(routeOf(slackPost(old))).toMatchObject({ keys: ['T061EG9R6:A0MDYCDME', 'T061EG9R6'] })
  })

  test('a post for another workspace holds nothing for this connection', () => {
    const authorizations = [{ team_id: 'T0OTHER', user_id: 'U1', is_bot: true }]
    expect(read(mention('x'), { authorizations })).toEqual([])
  })
})

describe('a mention', () => {
  test('begins a thread under itself', () => {
    expect(one(mention('what is due?'), { event_id: 'Ev0MDYHUEL' })).toEqual({
      ...{ eventIds: ['Ev0MDYHUEL', 'C0LAN2Q65:1515449522.000016'], sender: { id: 'U061F7AUR', name: null } },
      ...{ thread: 'C0LAN2Q65:1515449522.000016', isShared: true, subject: null, text: 'what is due?', attachments: [] },
      ...{ replyTo: { channel: 'C0LAN2Q65', thread: '1515449522.000016' }, directTo: { channel: 'U061F7AUR' }, toFetch: null },
    })
  })

  test('in a thread stays in it', () => {
    const message = one(mention('and now?', { ts: '1515449600.000200', thread_ts: '1515449522.000016' }))
    expect(message).toMatchObject({ thread: 'C0LAN2Q65:1515449522.000016', replyTo: { channel: 'C0LAN2Q65', thread: '1515449522.000016' } })
  })

  test('is the same event whether Slack tells of it as a mention or as a message, under whatever event id', () => {
    const [first, second] = [one(mention('x')), one(mention('x'))]
    expect(first.eventIds[0]).not.toBe(second.eventIds[0])
    expect(first.eventIds[1]).toBe(second.eventIds[1]!)
  })
})

describe('a direct message', () => {
  test('is answered without a thread', () => {
    expect(one(direct('hello'))).toMatchObject({ thread: 'D0PNCRP9N', isShared: false, replyTo: { channel: 'D0PNCRP9N' }, text: 'hello' })
  })

  test('in a thread is answered there', () => {
    const message = one(direct('hello', { thread_ts: '1515449483.000001' }))
    expect(message).toMatchObject({ thread: 'D0PNCRP9N:1515449483.000001', replyTo: { channel: 'D0PNCRP9N', thread: '1515449483.000001' } })
  })

  test('carries the name of the sender where Slack gives it', () => {
    expect(one(direct('x', { user_profile: { real_name: 'Ada Lovelace', display_name: 'ada' } })).sender.name).toBe('Ada Lovelace')
    expect(one(direct('x', { user_profile: { real_name: '', display_name: 'ada' } })).sender.name).toBe('ada')
  })
})

test('a person of another company, in a shared channel, carries the workspace in the id and is not written to directly', () => {
  const foreign = one(mention('x', { user_team: 'T0OTHER', team: 'T0OTHER' }), { is_ext_shared_channel: true })
  expect(foreign).toMatchObject({ sender: { id: 'U061F7AUR@T0OTHER' }, directTo: null })
  expect(one(mention('x', { user_team: install.teamId })).sender.id).toBe('U061F7AUR')
})

test.each([
  ['our own', direct('x', { user: install.botUserId })],
  ['another bot’s', direct('x', { bot_id: 'B012' })],
  ['a bot’s in the old form', direct('x', { subtype: 'bot_message', user: undefined, bot_id: 'B012' })],
  ['a mention by a bot', mention('x', { bot_id: 'B012', bot_profile: { app_id: 'A1' } })],
  ['Slackbot’s', direct('x', { user: 'USLACKBOT' })],
  ['an edit', direct('', { subtype: 'message_changed', hidden: true, message: { text: 'edited' }, user: undefined })],
  ['an edited mention', mention('x', { edited: { user: 'U061F7AUR', ts: '1515449600.0' } })],
  ['a deletion', direct('', { subtype: 'message_deleted', hidden: true })],
  ['a join', direct('<@U061F7AUR> has joined', { subtype: 'channel_join' })],
  ['a message in a channel that does not mention us', direct('x', { channel_type: 'channel', channel: 'C0LAN2Q65' })],
  ['a message in a group', direct('x', { channel_type: 'mpim', channel: 'G0LAN2Q65' })],
  ['a reaction', { type: 'reaction_added', user: 'U061F7AUR', reaction: '+1', item: { type: 'message', channel: 'D0PNCRP9N', ts: '1.0' } }],
  ['one without a sender', direct('x', { user: undefined })],
  ['one without a channel', direct('x', { channel: undefined })],
  ['one whose time is no time', direct('x', { ts: 'now' })],
  ['nothing but our name', mention('')],
])('left out: %s', (_, event) => {
  expect(read(event)).toEqual([])
})

test('only events hold messages', () => {
  expect(
    readPost(
      slackPost({ type: 'app_rate_limited', team_id: install.teamId, api_app_id: install.appId, minute_rate_limited: 1 }),
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
    const message = one(direct('', { subtype: 'file_share', files: [{ ...file, url_private_download: `${file.url_private}/download` }] }))
    expect(message).toMatchObject({ text: '' })
    const ref = { id: 'F0TD00400', url: 'https://files.slack.com/files-pri/T1-F1/prices.md/download' }
    expect(message.attachments).toEqual([{ name: 'prices.md', mimeType: 'text/markdown', byteSize: 2_048, ref }])
  })

  test('without an address are asked for by their id', () => {
    const shared = { id: 'F0TD00400', mode: 'snippet', file_access: 'check_file_info', created: 0 }
    expect(one(mention('look', { files: [shared] })).attachments).toEqual([
      { name: 'file', mimeType: 'application/octet-stream', byteSize: null, ref: { id: 'F0TD00400' } },
    ])
  })

  test.each(['external', 'tombstone', 'hidden_by_limit'])('of mode %s cannot be fetched', (mode) => {
    expect(one(mention('look', { files: [{ ...file, mode }] })).attachments[0]!.ref).toBeNull()
  })

  test('a message that is passed on comes as a file, apart from what the sender says', () => {
    const attachments = [{ is_share: true, author_name: 'Eve', text: 'approve &lt;all&gt;', from_url: 'https://x' }, { title: 'a preview' }]
    const message = one(direct('see below', { attachments }))
    expect(message.text).toBe('see below')
    const ref = { text: 'Eve wrote:\n\napprove <all>' }
    expect(message.attachments).toEqual([{ name: 'forwarded message.txt', mimeType: 'text/plain', byteSize: 25, ref }])
    expect(one(direct('', { attachments: [{ is_share: true }] })).attachments[0]!.ref).toBeNull()
  })
})

describe('text', () => {
  test.each([
    ['<@U0LAN0Z89>: hello', 'hello'],
    ['  <@U0LAN0Z89|tendril> <@U0LAN0Z89>, hello', 'hello'],
    ['ask <@U0LAN0Z89> about <@U024BE7LH>', 'ask @U0LAN0Z89 about @U024BE7LH'],
    ['<@W012A3CDE|ada> said', '@ada said'],
    ['see <#C024BE7LR|general> and <#C024BE7LH> and <#C024BE7LH|>', 'see #general and #C024BE7LH and #C024BE7LH'],
    ['<!here> <!channel> <!subteam^SAZ94GDB8|@crew> <!subteam^SAZ94GDB8>', '@here @channel @crew @SAZ94GDB8'],
    ['by <!date^1392734382^{date_num}|2014-02-18>', 'by 2014-02-18'],
    ['<https://example.com/a?b=1&amp;c=2>', 'https://example.com/a?b=1&c=2'],
    ['<https://evil.example|our price list>', 'our price list (https://evil.example)'],
    ['<http://example.com|example.com>', 'http://example.com'],
    ['<mailto:ada@example.com|ada@example.com> <tel:+491511|+491511>', 'ada@example.com +491511'],
    ['1 &lt; 2 &amp;&amp; 3 &gt; 2 &amp;lt;', '1 < 2 && 3 > 2 &lt;'],
    ['a < b and <> stay', 'a < b and <> stay'],
    ['*bold* _it_ ~no~ `code`', '*bold* _it_ ~no~ `code`'],
  ])('%s', (mrkdwn, text) => {
    expect(plainTextOf(mrkdwn, install.botUserId)).toBe(text)
  })

  test('without brackets is only unescaped, and never throws or grows', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
        expect(plainTextOf(escaped, install.botUserId)).toBe(text.trim())
        expect(plainTextOf(text, undefined).length).toBeLessThanOrEqual(text.length)
      }),
      runs(300),
    )
  })

  test('of many open brackets is read in a moment', () => {
    const text = one(direct('<@U0LAN0Z89|'.repeat(8_000))).text
    expect(text!.length).toBe(40_000)
  })

  test('that cannot be stored becomes text that can', () => {
    expect(one(direct('a\u0000b\ud800c')).text).toBe('ab\ufffdc')
  })
})
