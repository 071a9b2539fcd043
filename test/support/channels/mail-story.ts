/**
 * Mail addresses that are connected with a workspace of ours: people write to them, and read the
 * answers.
 */
import { randomBytes } from 'node:crypto'
import { eventually } from '../eventually.ts'
import type { MailgunPostChanges, RoutedMail } from './mailgun.ts'
import { type ChannelPlace, connectedPlace, countOf, delivered, type Said } from './place.ts'
import type { ReceivedMail, ResendPostChanges } from './resend.ts'
import type { ChannelWorld } from './world.ts'

let count = 0

/** The part of a mail that people read. */
export interface ReadMail {
  to: string
  subject: string
  text: string
  html: string
  headers: Record<string, string>
}

const HOUR_MS = 3_600_000

const connected = async (world: ChannelWorld, options: Record<string, unknown>) => {
  const address = `agent${++count}@example.com`
  const place = await connectedPlace(world, { channel: 'email', routingKey: address, ...options })
  return { ...place, address, postUrl: `${world.app.url}/webhooks/channels/email` }
}

const reading = (mails: () => ReadMail[]) => (many: number) =>
  eventually(mails, (all) => all.length >= many)

/** The answers to one of several people. */
const answersTo =
  (mails: () => ReadMail[], from: string): Said['answers'] =>
  (many) =>
    eventually(
      () => mails().flatMap(({ to, text }) => (to === from ? [text] : [])),
      (texts) => texts.length >= many,
    )

const newMessageId = () => `<${randomBytes(8).toString('hex')}@example.org>`

/** The ids of the messages that began the conversations. */
const begun = new WeakMap<Said, string>()

export const resendStory = async (world: ChannelWorld, options: Record<string, unknown> = {}) => {
  const { resend } = world
  const { apiKey, signingSecret } = resend
  const story = await connected(world, {
    config: { provider: 'resend' },
    credentials: { apiKey, signingSecret },
    ...options,
  })
  const deliver = (mail: ReceivedMail, changes: ResendPostChanges = {}) =>
    delivered(resend.post(story.postUrl, mail, changes))
  const writes = async (mail: Partial<ReceivedMail>) => {
    const received = resend.receive({ to: [story.address], ...mail })
    return { mail: received, ...(await deliver(received)) }
  }
  const mails = () =>
    resend.mails
      .filter(({ from }) => from.includes(story.address))
      .map(({ to, subject, text = '', html = '', headers = {} }) => ({
        to: to.join(),
        subject,
        text,
        html,
        headers,
      }))

  const says: ChannelPlace['says'] = async (from, text, { file, after } = {}): Promise<Said> => {
    const headers: Record<string, string> = after ? { references: begun.get(after)! } : {}
    const files = file
      ? [
          {
            id: 'f1',
            filename: file.name,
            content_type: 'text/markdown',
            bytes: Buffer.from(file.text),
          },
        ]
      : []
    const { mail, ...taken } = await writes({ from, text, subject: 'Plans', headers, files })
    const said = {
      ...taken,
      again: async () => [
        ...(await Promise.all(['msg_1', 'msg_2'].map((id) => deliver(mail, { id })))),
        await writes({ from, text, subject: 'Plans', headers, message_id: mail.message_id }),
      ],
      answers: answersTo(mails, from),
    }
    begun.set(said, after ? begun.get(after)! : mail.message_id)
    return said
  }

  const forged = () => {
    const mail = resend.receive({ to: [story.address] })
    return Promise.all([
      deliver(mail, { by: 'whsec_Y2hhbm5lbC1zZWNyZXQtb2YtdGVzdHMtMDAwMQ==' }),
      deliver(mail, { at: new Date(Date.now() - HOUR_MS / 10) }),
      deliver(resend.receive({ to: ['nobody@example.com'] })),
    ])
  }

  const ignored = () =>
    Promise.all([
      writes({ from: 'MAILER-DAEMON@example.org' }),
      writes({ from: story.address }),
      deliver(resend.receive({ from: story.address }), { type: 'email.delivered' }),
    ])

  return {
    ...story,
    deliver,
    writes,
    reads: reading(mails),
    says,
    forged,
    ignored,
    losesAnswer: () => resend.fail({ status: 500, isTaken: true }),
    sends: () => countOf(resend.requests, 'POST /emails'),
    withdraws() {
      const old = resend.apiKey
      resend.apiKey = `re_${randomBytes(12).toString('hex')}`
      return { old, fresh: { apiKey: resend.apiKey }, named: 'apiKey' }
    },
  } satisfies ChannelPlace & Record<string, unknown>
}

export const mailgunStory = async (world: ChannelWorld, options: Record<string, unknown> = {}) => {
  const { mailgun } = world
  const { apiKey, signingKey } = mailgun
  const story = await connected(world, {
    config: { provider: 'mailgun' },
    credentials: { apiKey, signingSecret: signingKey },
    ...options,
  })
  const deliver = (mail: RoutedMail, changes: MailgunPostChanges = {}) =>
    delivered(mailgun.post(story.postUrl, { recipient: story.address, ...mail }, changes))
  const headersOf = (mail: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(mail).flatMap(([name, value]) =>
        name.startsWith('h:') ? [[name.slice(2), value]] : [],
      ),
    )
  const mails = () =>
    mailgun.mails
      .filter(({ from }) => from!.includes(story.address))
      .map((mail) => ({
        to: mail.to!,
        subject: mail.subject!,
        text: mail.text!,
        html: mail.html!,
        headers: headersOf(mail),
      }))

  const says: ChannelPlace['says'] = async (from, text, { file, after } = {}): Promise<Said> => {
    const id = newMessageId()
    const references = after ? [['References', begun.get(after)!]] : []
    const mail = {
      from,
      sender: from,
      subject: 'Plans',
      'body-plain': text,
      headers: [['Message-Id', id], ...references] as [string, string][],
      ...(file
        ? {
            files: [{ name: file.name, type: 'text/markdown', bytes: Buffer.from(file.text) }],
          }
        : {}),
    }
    const token = randomBytes(25).toString('hex')
    const said = {
      ...(await deliver(mail, { token })),
      // A token counts only once, whatever comes with it.
      again: () =>
        Promise.all([
          ...[deliver(mail, { token }), deliver(mail)],
          deliver({ from, sender: from, 'body-plain': 'forged' }, { token }),
        ]),
      answers: answersTo(mails, from),
    }
    begun.set(said, after ? begun.get(after)! : id)
    return said
  }

  return {
    ...story,
    deliver,
    reads: reading(mails),
    says,
    forged: () =>
      Promise.all([
        deliver({}, { at: new Date(Date.now() - 24 * HOUR_MS) }),
        deliver({}, { by: 'f'.repeat(32) }),
        deliver({ recipient: 'nobody@example.com' }),
      ]),
    ignored: () =>
      Promise.all([
        ...['MAILER-DAEMON@example.org', story.address].map((from) => deliver({ from })),
        deliver({ headers: [['Auto-Submitted', 'auto-replied']] }),
      ]),
    losesAnswer: () => mailgun.fail({ status: 500, isTaken: true }),
    sends: () => countOf(mailgun.requests, '/messages'),
    withdraws() {
      const old = mailgun.apiKey
      mailgun.apiKey = `key-${randomBytes(16).toString('hex')}`
      return { old, fresh: { apiKey: mailgun.apiKey }, named: 'apiKey' }
    },
  } satisfies ChannelPlace & Record<string, unknown>
}

/** An answer of ours, as the program of a person quotes it. */
export const quoting = (answer: string) =>
  `\n\nOn Mon, Nov 23, 2026 at 10:00 AM Agent <agent@example.com> wrote:\n\n${answer.replaceAll(/^/gm, '> ')}\n`
