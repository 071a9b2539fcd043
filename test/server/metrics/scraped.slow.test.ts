/** A collector that reads metrics each ten milliseconds, while people work. */
import { expect, spyOn, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { deploymentCounts } from '#store/app/deployment-counts'
import { testApp } from '#test/support/app'
import { samplesOf } from '#test/support/http/metrics'
import { freePort } from '#test/support/processes/server'

const TOKEN = 'a-token-of-some-length'
const EVERY_MS = 10
const SCRAPES = 300
const COMMANDS = 150
const PAGE_MS = 1_000
const COUNTS_MS = 15_000

test('costs a page a second, holds up no command, and sees each of them', async () => {
  const lines: string[] = []
  const log = createLog('debug', { write: (line) => lines.push(line) })
  const port = await freePort()
  await using app = await testApp({
    env: { METRICS_PORT: String(port), METRICS_TOKEN: TOKEN },
    log,
  })
  const asked = spyOn(app.workplace.db, 'system')
  const page = async (): Promise<{ status: number; text: string }> => {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers })
    return { status: answer.status, text: await answer.text() }
  }
  const began = performance.now()
  const scraping = Array.from({ length: SCRAPES }, async (_, at) => {
    await Bun.sleep(at * EVERY_MS)
    return await page()
  })
  const codes: number[] = []
  const people = Array.from({ length: 5 }, async (_, person) => {
    for (let times = 0; times < COMMANDS / 5; times++) {
      const body = { goal: `goal ${times} of ${person}` }
      codes.push((await app.send('PUT', 'profile', { body })).status)
    }
  })
  const [pages] = await Promise.all([Promise.all(scraping), Promise.all(people)])
  const took = performance.now() - began
  expect(new Set(codes)).toEqual(new Set([200]))
  expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]))
  const made = new Set(pages.map(({ text }) => text)).size
  expect(made).toBeWithin(1, took / PAGE_MS + 2)
  const counts = asked.mock.calls.filter(([question]) => question === deploymentCounts).length
  expect(counts).toBeWithin(1, took / COUNTS_MS + 2)
  await Bun.sleep(PAGE_MS)
  const last = samplesOf((await page()).text)
  expect(last['tendril_letters_total{letter="growth.profile.update",outcome="done"}']).toBe(
    COMMANDS,
  )
  expect(lines.filter((line) => line.includes('growth.profile.update'))).toHaveLength(COMMANDS)
  expect(lines.join('')).not.toContain(TOKEN)
}, 120_000)
