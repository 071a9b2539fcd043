/** What conversations by mail have of their own, through either of its providers. */
import { describe, expect, test } from 'bun:test'
import { dailyJobLimits, USED_UP } from '#domain/agent/channel/trust'
import { begunBefore, channelJobs, linked, settledMessages } from '#test/support/channels/dev-posts'
import { mailgunStory, quoting, resendStory } from '#test/support/channels/mail-story'
import { codeIn, linkCode, sendersOf } from '#test/support/channels/senders'
import { useChannels } from '#test/support/channels/world'
import { eventually } from '#test/support/eventually'

const world = useChannels()
const ADA = 'ada@example.org'

/** Mails as each provider delivers them; `headers` name the mails before. */
const writers = {
  async Resend() {
    const story = await resendStory(world, { config: { provider: 'resend', fromName: 'Tendril' } })
    const writes = async (text: string, subject: string, headers: Record<string, string>) => {
      const { 'Message-Id': message_id, ...others } = headers
      return story.writes({ subject, text, headers: others, message_id: message_id! })
    }
    return { ...story, writes }
  },
  async Mailgun() {
    const story = await mailgunStory(world, {
      config: { provider: 'mailgun', fromName: 'Tendril' },
    })
    const writes = (text: string, subject: string, headers: Record<string, string>) =>
      story.deliver({ subject, 'body-plain': text, headers: Object.entries(headers) })
    return { ...story, writes }
  },
}

test.each(['Resend', 'Mailgun'] as const)(
  'a thread of mails is a conversation, which is answered there: through %s',
  async (provider) => {
    const story = await writers[provider]()
    await linked(world.app, story, ADA)
    const [first, answered, second] = ['<a@example.org>', '<b@example.com>', '<c@example.org>']
    await story.writes('what is due?\r\n\r\n-- \r\nAda Lovelace', 'Plans', { 'Message-Id': first })
    const [answer] = await story.reads(1)
    expect(answer).toMatchObject({
      to: ADA,
      subject: 'Re: Plans',
      text: '1. You said: Subject: Plans\n\nwhat is due?',
      html: expect.stringContaining('<strong>1.</strong>'),
      headers: { 'In-Reply-To': first, References: first, 'Auto-Submitted': 'auto-replied' },
    })
    const references = `${first} ${answered}`
    await story.writes(`and then?${quoting(answer!.text)}`, 'Re: Plans', {
      'Message-Id': second,
      'In-Reply-To': answered,
      References: references,
    })
    const [, next] = await story.reads(2)
    expect(next!.text).toBe('2. You said: Subject: Re: Plans\n\nand then?')
    expect(next!.headers.References).toBe(`${references} ${second}`)
  },
)

describe('through Resend', () => {
  /** In which Ada's address is that of a member. */
  const membersStory = async () => {
    const story = await resendStory(world)
    await linked(world.app, story, ADA)
    return story
  }

  test('a code that is sent by mail links its sender, although the mail is fetched; one that is quoted does not', async () => {
    const story = await resendStory(world)
    const [code, senders] = [await linkCode(story), () => sendersOf(story)]
    await story.writes({ from: 'eve@example.org', text: `Look.${quoting(`Your code is ${code}`)}` })
    await story.reads(1)
    expect(await senders()).toEqual([])
    await story.writes({ subject: 'You have won: answer this mail', text: `${code}\n\n-- \nAda` })
    const second = (await story.reads(2)).at(-1)!
    // Under a subject of ours, and in no thread: whoever forged the sender may have chosen those.
    expect(second).toMatchObject({ to: ADA, subject: 'A message from your agent' })
    expect([second.headers['In-Reply-To'], await senders()]).toEqual([undefined, []])
    const answer = codeIn(second.text)
    expect(second.html).toContain(answer)
    // What answers for its owner quotes the mail.
    await story.writes({
      subject: `Re: ${second.subject}`,
      text: `I am away.${quoting(second.text)}`,
    })
    await story.reads(3)
    expect(await senders()).toEqual([])
    await story.writes({
      subject: `Re: ${second.subject}`,
      text: `${answer}${quoting(second.text)}`,
    })
    expect(await eventually(senders, (all) => all.length > 0)).toEqual([ADA])
    await story.reads(4)
    await story.writes({ text: 'hello' })
    expect((await story.reads(5)).at(-1)).toMatchObject({
      to: ADA,
      text: expect.stringContaining('hello'),
    })
  })

  test('another mail is another conversation', async () => {
    const story = await membersStory()
    await story.writes({ subject: 'One' })
    await story.reads(1)
    await story.writes({ subject: 'Two' })
    expect((await story.reads(2)).every(({ text }) => text.startsWith('1.'))).toBe(true)
  })

  test('who writes in a thread of somebody else begins one of his own', async () => {
    const story = await membersStory()
    await linked(world.app, story, 'bob@example.org')
    const first = await story.writes({ text: 'Ada’s secret' })
    await story.reads(1)
    await story.writes({
      from: 'Bob <bob@example.org>',
      text: 'what was said?',
      headers: { references: first.mail.message_id },
    })
    const [, answer] = await story.reads(2)
    expect(answer).toMatchObject({ to: 'bob@example.org', text: expect.stringMatching(/^1\. /) })
  })

  test('machines are not answered, whether the post tells or the mail', async () => {
    const story = await resendStory(world, {
      senderPolicy: 'anyone',
      config: { provider: 'resend', reply: 'auto' },
    })
    await story.writes({ from: 'MAILER-DAEMON@example.org' })
    await story.writes({ from: story.address })
    await story.writes({
      headers: { 'Auto-Submitted': 'auto-replied' },
      text: 'I am out of office',
    })
    await story.writes({ headers: { 'List-Id': '<news.example.org>' }, text: 'news' })
    const person = await story.writes({ text: 'a person' })
    const messages = await settledMessages(world.app, story, 3)
    expect(messages.map(({ state }) => state)).toEqual(['failed', 'failed', 'taken'])
    expect(await story.reads(1)).toMatchObject([
      { to: ADA, headers: { 'In-Reply-To': person.mail.message_id } },
    ])
    expect(await channelJobs(world.app, story)).toHaveLength(1)
  })

  test('HTML alone is read', async () => {
    const story = await membersStory()
    const html = '<p>Our <b>prices</b> are below.</p><blockquote>Which prices?</blockquote>'
    await story.writes({ text: null, html })
    const [answer] = await story.reads(1)
    expect(answer!.text).toContain('Our prices are below.')
    expect(answer!.text).not.toContain('Which prices?')
  })

  test('a member who has used up the day is told so once, and no text or file beyond it is kept', async () => {
    const story = await resendStory(world)
    const identity = await linked(world.app, story, ADA)
    await begunBefore(world.app, story, {
      sender: ADA,
      identity,
      count: dailyJobLimits.ofMember - 1,
    })
    const file = {
      id: 'f2',
      filename: 'notes.md',
      content_type: 'text/markdown',
      bytes: Buffer.from('# Notes'),
    }
    await story.writes({ text: 'the last' })
    await story.writes({ text: 'too many', files: [file] })
    const mails = await story.reads(2)
    expect(mails.map(({ text }) => text).toSorted()).toEqual([
      expect.stringContaining('the last'),
      USED_UP,
    ])
    const reads = () =>
      world.resend.requests.filter((each) => each.startsWith('GET /emails/receiving')).length
    const before = reads()
    await story.writes({ text: 'far too many' })
    expect(await settledMessages(world.app, story, dailyJobLimits.ofMember)).toHaveLength(
      dailyJobLimits.ofMember,
    )
    expect([
      reads(),
      (await story.reads(2)).length,
      (await channelJobs(world.app, story)).length,
    ]).toEqual([before, 2, 1])
    expect((await story.send('GET', 'documents')).body.documents).toEqual([])
  })

  test('a Resend that cannot tell the text at first is asked again', async () => {
    const story = await membersStory()
    world.resend.fail({ status: 503 })
    await story.writes({ text: 'later' })
    expect((await story.reads(1))[0]!.text).toContain('later')
  })
})

describe('through Mailgun', () => {
  /** In which Ada's address is that of a member. */
  const membersStory = async (options: Record<string, unknown> = {}) => {
    const story = await mailgunStory(world, options)
    await linked(world.app, story, ADA)
    return story
  }

  test('the last of Mailgun’s tries, which has the signature of the first, is taken', async () => {
    const story = await membersStory()
    const at = new Date(Date.now() - 8 * 3_600_000)
    expect((await story.deliver({}, { at })).status).toBe(200)
    await story.reads(1)
  })

  test('files that came with the post, and those that Mailgun keeps, become documents', async () => {
    const story = await membersStory()
    const hours = { name: 'hours.md', type: 'text/markdown', bytes: Buffer.from('Nine to five.') }
    await story.deliver({ 'body-plain': 'our hours', files: [hours] })
    const stored = world.mailgun.store(
      'example.com',
      'prices.md',
      Buffer.from('An espresso costs 2.40.'),
      'text/markdown',
    )
    await story.deliver({ 'body-plain': 'our prices', attachments: [stored] })
    await story.reads(2)
    const { documents } = (await story.send('GET', 'documents')).body
    expect(documents.map(({ fileName }: { fileName: string }) => fileName).sort()).toEqual([
      'hours.md',
      'prices.md',
    ])
  })
})
