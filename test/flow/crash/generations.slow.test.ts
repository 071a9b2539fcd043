/** Processes that die while they audit or report: it is made once more, and given up after that. */
import { describe, expect, test } from 'bun:test'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { crash } from '#test/support/growth/story'

const kinds = {
  audit: {
    path: 'audits',
    quota: 'audits',
    read: async (app: TestApp, { id, key }: Made) =>
      (await app.send('GET', `audits/${id}`, { key })).body.audit,
  },
  report: {
    path: 'reports',
    quota: 'reports',
    read: async (app: TestApp, { id, key }: Made) =>
      (await app.send('GET', 'reports', { key })).body.reports.find(
        (one: { id: string }) => one.id === id,
      ),
  },
} as const

interface Made {
  id: string
  key: string
  tenantId: string
}

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])(
  'a process that dies in the middle of an %s',
  (name) => {
    const { path, quota, read } = kinds[name]
    const spentOf = async (app: TestApp, tenantId: string) =>
      (
        await app.owner`select used::int from counter where tenant_id = ${tenantId}
          and key = ${quota}`
      )[0]!.used
    const create = async (app: TestApp): Promise<Made> => {
      const { key, tenantId } = await app.newWorkspace()
      return { key, tenantId, id: (await app.send('POST', path, { key, body: {} })).body[name].id }
    }
    const start = (options: TestApp['options'], points = testFailpoints()) =>
      testApp({ database: options, overrides: { failpoints: points.at } })

    test.each(['generation.claimed', 'generation.drafted'])(
      'once, at %s: it is made again, and costs one',
      async (point) => {
        await using db = await freshDb()
        const points = testFailpoints()
        points.arm(point, 'hang')
        await using first = await start(db.options, points)
        const made = await create(first)
        await points.reached(point)
        await crash(first)
        await using second = await start(db.options)
        const record = await eventually(
          () => read(second, made),
          ({ status }) => status === 'ready',
        )
        expect(record.error).toBeNull()
        // The one that was thought dead goes on, and changes nothing.
        points.release(point)
        expect(await spentOf(second, made.tenantId)).toBe(1)
      },
    )

    test('twice: it is given up, and the quota comes back', async () => {
      await using db = await freshDb()
      let made: Made | undefined
      const gone: TestApp[] = []
      for (let time = 0; time < 2; time++) {
        const points = testFailpoints()
        points.arm('generation.claimed', 'hang')
        const one = await start(db.options, points)
        gone.push(one)
        made ??= await create(one)
        await points.reached('generation.claimed')
        await crash(one)
        points.release('generation.claimed')
      }
      await using last = await start(db.options)
      const record = await eventually(
        () => read(last, made!),
        ({ status }) => status === 'failed',
      )
      expect(record.error).toBe('enqueue_failed')
      expect(await spentOf(last, made!.tenantId)).toBe(0)
      for (const one of gone) await one[Symbol.asyncDispose]()
    })
  },
)
