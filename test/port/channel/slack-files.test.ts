/** Files that came with messages of Slack: read with the bot’s token, which goes to Slack alone. */
import { describe, expect, test } from 'bun:test'
import { fileless, useSlack } from '#test/support/channels/adapters'
import { install } from '#test/support/channels/slack-posts'

const { slack, adapter, connection, withToken } = await useSlack()
const { signal } = new AbortController()

describe('a file', () => {
  const bytes = Buffer.from([0, 255, 10, 13, 200])
  slack.files.set('T1-F0TD00400/download', { body: bytes, contentType: 'text/markdown' })
  slack.files.set('F0TD00500/download', { body: bytes, contentType: 'text/plain' })
  slack.files.set('large', { body: Buffer.alloc(1_048_577), contentType: 'text/plain' })
  slack.files.set('page.html', { body: Buffer.from('notes about html'), contentType: 'text/html' })
  const urlOf = (path: string) => `${slack.urls.slack_files}/files-pri/${path}`
  const download = (ref: Record<string, unknown>, by = connection) =>
    adapter.download!(by, ref, signal)

  test('is read with the bot’s token', async () => {
    expect(await download({ id: 'F0TD00400', url: urlOf('T1-F0TD00400/download') })).toEqual({
      kind: 'fetched',
      value: bytes,
    })
    expect(slack.requests[0]!.headers.authorization).toBe(`Bearer ${install.token}`)
  })

  test('without an address is found by its id', async () => {
    expect(await download({ id: 'F0TD00500' })).toEqual({ kind: 'fetched', value: bytes })
    expect((await download({ id: 'F0NONE' })).kind).toBe('gone')
  })

  test.each([
    'https://evil.example/files-pri/x',
    `${slack.urls.slack_files.replace('127.0.0.1', 'localhost')}/files-pri/T1-F0TD00400/download`,
    slack.urls.slack_files.replace('http://', 'http://x@'),
    'http://127.0.0.1:1/files-pri/x',
    'file:///etc/passwd',
    'nonsense',
  ])('at %s is not asked for: the token goes to Slack alone', async (url) => {
    expect(await download({ id: 'F1', url })).toEqual({
      kind: 'gone',
      error: 'the file is not kept by Slack',
    })
    expect(slack.requests).toEqual([])
  })

  test('without the scope is Slack’s page to sign in, and no file', async () => {
    const error = 'Slack does not hand the file out: the app needs the scope files:read'
    expect(
      await download({ url: urlOf('T1-F0TD00400/download') }, withToken(fileless.token)),
    ).toEqual({ kind: 'gone', error })
    slack.next.push({ status: 302, headers: { location: 'https://slack.com/signin' } })
    expect(await download({ url: urlOf('x') })).toEqual({ kind: 'gone', error })
    expect((await download({ url: urlOf('page.html') })).kind).toBe('fetched')
  })

  test('that is gone, too large, or not to be had now', async () => {
    expect((await download({ url: urlOf('none') })).kind).toBe('gone')
    expect(await download({ url: urlOf('large') })).toEqual({
      kind: 'gone',
      error: 'it has more than 1048576 bytes',
    })
    slack.next.push(
      { status: 500 },
      { status: 429 },
      { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab' },
      { raw: '' },
    )
    for (let i = 0; i < 4; i++)
      expect((await download({ url: urlOf('x') })).kind).toBe('unreachable')
  })
})
