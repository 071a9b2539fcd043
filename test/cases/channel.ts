/** Stories of conversations, which are the same in every channel. */
import { describe, expect, test } from 'bun:test'
import { channelTraits } from '#domain/agent/channel/channel'
import { partsOf } from '#domain/agent/channel/forms/parts'
import { LINKED_LINES } from '#domain/agent/channel/identity'
import { dailyJobLimits, MEMBERS_ONLY, MOST_TOLD, USED_UP } from '#domain/agent/channel/trust'
import {
  begunBefore,
  channelJobs,
  dayLater,
  linked,
  messagesOf,
} from '#test/support/channels/dev-posts'
import type { ChannelPlace } from '#test/support/channels/place'
import { repliesWith } from '#test/support/channels/replies'
import { codeIn, linkCode, sendersOf } from '#test/support/channels/senders'
import type { ChannelWorld } from '#test/support/channels/world'
import { eventually } from '#test/support/eventually'
import type { ChannelRow } from './channels.ts'

const DOUBT =
  'I do not know whether all of my last answer reached you. If something is missing, ask again.'
const FILE = { name: 'prices.md', text: '# Prices\n\nAn espresso costs 2.40.' }

const statuses = (all: { status: number }[]) => all.map(({ status }) => status)

/** How a conversation goes. */
const talking = (world: ChannelWorld, row: ChannelRow): void => {
  const { channel, bold } = row
  const [ADA] = row.people

  test('a member talks with the agent: it remembers, uses tools, and answers in the form of the channel', async () => {
    const place = await row.membersPlace(world)
    const first = await place.says(ADA, 'what is due?')
    expect(first).toMatchObject({ status: 200, body: row.taken })
    expect(await first.answers(1)).toEqual([row.echoed(1, 'what is due?')])
    const second = await place.says(ADA, 'use get_current_time', { after: first })
    expect(await second.answers(2)).toEqual([
      row.echoed(1, 'what is due?'),
      `${row.echoed(2, 'use get_current_time')} The tool gave 1 result.`,
    ])
    const jobs = await channelJobs(world.app, place)
    expect(new Set(jobs.map(({ conversation_id }) => conversation_id)).size).toBe(1)
    // Where the sender can be forged, the text may be anybody's.
    const taint = channelTraits[channel].isForgeable ? [`channel ${channel}`] : []
    expect(jobs.map((job) => [job.taint.slice(0, 1), job.on_behalf.personId !== null])).toEqual(
      Array(2).fill([taint, true]),
    )
  })

  test('other tries of the provider begin nothing more', async () => {
    const place = await row.membersPlace(world)
    const said = await place.says(ADA, 'once')
    expect(new Set(statuses(await said.again()))).toEqual(new Set([200]))
    const next = await place.says(ADA, 'after it', { after: said })
    expect(await next.answers(2)).toEqual([row.echoed(1, 'once'), row.echoed(2, 'after it')])
    expect(await channelJobs(world.app, place)).toHaveLength(2)
  })

  test('an answer that is long goes out in several messages, in order', async () => {
    const place = await row.membersPlace(world)
    const words = Array.from({ length: 900 }, (_, at) => `word${at}`).join(' ')
    const { texts } = partsOf(channel, `**1.** You said: ${row.heard(words)}`)
    expect(texts.length).toBeGreaterThanOrEqual(Math.ceil(words.length / row.longest))
    const said = await place.says(ADA, words)
    const answers = await said.answers(texts.length)
    expect(answers).toEqual(texts)
    expect(Math.max(...answers.map(({ length }) => length))).toBeLessThanOrEqual(row.longest)
    expect([...answers.join(' ').matchAll(/word\d+/g)].join(' ')).toBe(words)
  })

  test('text of a member that comes as a file becomes a document', async () => {
    const place = await row.membersPlace(world)
    const said = await place.says(ADA, 'our prices', { file: FILE })
    expect((await said.answers(1))[0]).toContain('its text is the document')
    expect((await place.send('GET', 'documents')).body.documents).toMatchObject([
      { ...(channel === 'sms' ? {} : { fileName: FILE.name }), trusted: false },
    ])
  })

  test('a stranger’s answer is held until a person lets it go, and files of strangers are named alone', async () => {
    const place = await row.place(world, { senderPolicy: 'anyone' })
    const said = await place.says(ADA, 'when do you open?', { file: FILE })
    const [held] = await repliesWith(place, 'held')
    expect(held).toMatchObject({
      channel,
      recipient: expect.stringContaining(ADA),
      text: expect.stringContaining('(of a stranger)'),
    })
    expect((await place.send('GET', 'documents')).body.documents).toEqual([])
    const text = { text: 'At **nine**.' }
    expect((await place.send('POST', `channels/replies/${held.id}/send`, text)).status).toBe(200)
    expect(await said.answers(1)).toEqual([`At ${bold}nine${bold}.`])
  })
}

/** Whose words count. */
const believing = (world: ChannelWorld, row: ChannelRow): void => {
  const [ADA] = row.people
  const { isForgeable } = channelTraits[row.channel]

  test('posts that the provider did not sign are refused, and look like those for nobody', async () => {
    const place = await row.place(world, { senderPolicy: 'anyone' })
    const answers = await place.forged()
    const shown = answers.map(({ status, body }) => {
      const { code, message } = JSON.parse(body).error
      return [status, code, message]
    })
    const refusal = [401, 'unauthenticated', 'no channel has this routing key and signature']
    expect(shown).toEqual(answers.map(() => refusal))
    expect(shown.length).toBeGreaterThan(1)
    expect(await messagesOf(world.app, place)).toEqual([])
  })

  test('machines, and what the agent itself has said, begin nothing', async () => {
    const place = await row.place(world, { senderPolicy: 'anyone' })
    for (const { status } of await place.ignored()) expect(status).toBe(200)
    expect(await messagesOf(world.app, place)).toEqual([])
  })

  /** A member's code links at once, unless anybody could have sent it. */
  const link = async (place: ChannelPlace) => {
    const code = await linkCode(place)
    const said = await place.says(ADA, `My code: ${code}`)
    if (!isForgeable) return said
    const line = (await said.answers(2)).at(-1)!
    expect(line).toStartWith('Somebody asked to be known here as ')
    expect([await sendersOf(place), codeIn(line) === code]).toEqual([[], false])
    return place.says(ADA, codeIn(line).toLowerCase())
  }

  test('a stranger is told once that members alone are served, and becomes one by a code', async () => {
    const place = await row.place(world)
    await place.says(ADA, 'hello?')
    await place.says(ADA, 'anybody?')
    const said = await link(place)
    const lines = await said.answers(isForgeable ? 3 : 2)
    expect([lines[0], lines.at(-1)]).toEqual([MEMBERS_ONLY, LINKED_LINES.linked])
    expect(await sendersOf(place)).toEqual([ADA])
    const next = await place.says(ADA, 'and now?')
    expect((await next.answers(lines.length + 1)).at(-1)).toBe(row.echoed(1, 'and now?'))
  })

  if (!isForgeable) return
  test('messages in the name of a member begin 100 jobs a day; then the member is told so once, and others go on', async () => {
    const { app } = world
    const place = await row.membersPlace(world)
    const [, BOB] = row.people
    const identity = await linked(app, place, BOB)
    // Strangers who are told that only members are served do not keep a member from being told.
    await app.owner`insert into inbound_event (tenant_id, source_id, event_id, sender, at)
        select ${place.tenantId}, ${place.id}, 'told ' || n, '', now()
          from generate_series(1, ${MOST_TOLD}) n`
    await begunBefore(app, place, { sender: BOB, identity, count: dailyJobLimits.ofMember - 1 })
    const last = await place.says(BOB, 'the last')
    for (const text of ['too many', 'far too many'])
      expect((await place.says(BOB, text)).status).toBe(200)
    const ada = await place.says(ADA, 'hello')
    expect(await ada.answers(1)).toEqual([row.echoed(1, 'hello')])
    expect((await last.answers(2)).toSorted()).toEqual([row.echoed(1, 'the last'), USED_UP])
    expect(await channelJobs(app, place)).toHaveLength(2)
    await dayLater(app, place)
    const later = await place.says(BOB, 'a day later', { after: last })
    expect((await later.answers(3)).toSorted()).toEqual([
      row.echoed(1, 'the last'),
      row.echoed(2, 'a day later'),
      USED_UP,
    ])
  })
}

/** How its provider fails. */
const failing = (world: ChannelWorld, row: ChannelRow): void => {
  const [ADA] = row.people

  test('an answer that the provider perhaps took arrives once: it is unknown, or goes again under the same name', async () => {
    const place = await row.membersPlace(world)
    const before = place.sends()
    place.losesAnswer()
    const said = await place.says(ADA, 'perhaps')
    const replies = await repliesWith(place, row.isRepeatable ? 'sent' : 'unknown')
    expect(replies).toMatchObject([{ text: expect.stringContaining('perhaps') }])
    expect(place.sends() - before).toBe(row.isRepeatable ? 2 : 1)
    const next = await place.says(ADA, 'and this?', { after: said })
    const answer = row.echoed(2, 'and this?')
    expect(await next.answers(2)).toEqual([
      row.echoed(1, 'perhaps'),
      row.isRepeatable ? answer : `${DOUBT}\n\n${answer}`,
    ])
    const last = await place.says(ADA, 'and now?', { after: said })
    expect((await last.answers(3)).at(-1)).toBe(row.echoed(3, 'and now?'))
  })

  // Nobody asks about a developer's program.
  if (row.channel === 'dev') return
  test('credentials that are withdrawn make the connection failing, until there are others', async () => {
    const place = await row.place(world)
    const { old, fresh, named } = place.withdraws!()
    await place.send('POST', `channels/${place.id}/check`)
    const once = (wanted: string) =>
      eventually(
        () => place.get(place.id),
        ({ status }) => status === wanted,
      )
    const failed = await once('failing')
    expect(failed.lastError).toContain(named)
    expect(JSON.stringify(failed)).not.toContain(old)
    const change = { credentials: fresh }
    expect((await place.send('PATCH', `channels/${place.id}`, change)).status).toBe(200)
    expect(await once('active')).toMatchObject({ lastError: null })
  })
}

export const channelCases = (world: ChannelWorld, row: ChannelRow): void => {
  describe(`${row.name}: talking`, () => talking(world, row))
  describe(`${row.name}: believing`, () => believing(world, row))
  describe(`${row.name}: failing`, () => failing(world, row))
}
