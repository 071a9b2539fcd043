import { afterEach, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { actorStore, actorsIn, fakeLane } from '#test/support/actors/actors'
import { testFailpoints } from '#test/support/actors/failpoints'
import { addWork, bump, letterOf, workOn } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

const { start, countOf, becomes, workOf } = actorsIn(store)

describe('concurrency keys', () => {
  test('lanes of one key run one at a time, people first unless others have waited, then by due time', async () => {
    const lane = fakeLane()
    await using actors = await start({ lanes: [lane] })
    const [automatic, waited, early, late] = [newId(), newId(), newId(), newId()]
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000)
    await actors.runtime.ask(
      actors.tenant,
      addWork(
        workOn(waited, { origin: 'automatic', runAt: at(2) }),
        workOn(automatic, { origin: 'automatic', runAt: new Date(at(1).getTime() - 1_000) }),
        workOn(late, { runAt: at(1) }),
        workOn(early, { runAt: at(5) }),
      ),
    )
    for (const ref of [early, waited, late, automatic]) {
      const run = await lane.runOf(ref)
      expect([...lane.running.keys()]).toEqual([ref])
      run.finish()
    }
    expect(await becomes(actors.tenant, `settled:${automatic}`, 1)).toBe(1)
  })

  test('lanes of different keys run side by side', async () => {
    const lane = fakeLane()
    await using actors = await start({ lanes: [lane] })
    const refs = [newId(), newId(), newId()]
    await actors.runtime.ask(
      actors.tenant,
      addWork(...refs.map((ref) => workOn(ref, { key: ref }))),
    )
    await Promise.all(refs.map((ref) => lane.runOf(ref)))
    expect([...lane.running.keys()].sort()).toEqual(refs.sort())
  })

  test('a row that is given another key while it runs is not begun a second time beside itself', async () => {
    const lane = fakeLane({ deaf: true })
    await using actors = await start({ lanes: [lane] })
    const { runtime, tenant } = actors
    const [ref, other] = [newId(), newId()]
    const work = workOn(ref, { key: 'one' })
    await runtime.ask(tenant, addWork(work))
    const run = await lane.runOf(ref)
    await runtime.ask(
      tenant,
      bump('n', {
        requeued: [{ id: work.id, runAt: work.runAt, key: 'another' }],
        work: [workOn(other)],
      }),
    )
    await lane.runOf(other)
    expect(lane.started).toEqual([ref, other])
    lane.running.get(other)!.finish()
    run.finish()
    expect(
      (
        await eventually(
          async () => lane.started,
          ({ length }) => length === 3,
        )
      ).at(-1),
    ).toBe(ref)
    ;(await lane.runOf(ref)).finish()
    expect(await becomes(tenant, `settled:${ref}`, 1)).toBe(1)
  })
})

describe('recall', () => {
  const recalled = (also: (ids: string[]) => object) =>
    letterOf<number>((_sql, _gate, lanes) => {
      const works = lanes.recall(() => true)
      return { reply: works.length, effects: also(works.map(({ id }) => id)) }
    })

  test('stops a lane before its point of no return, which it may then not pass', async () => {
    const lane = fakeLane({ deaf: true })
    await using actors = await start({ lanes: [lane] })
    const ref = newId()
    await actors.runtime.ask(actors.tenant, addWork(workOn(ref)))
    const run = await lane.runOf(ref)
    expect(
      await actors.runtime.ask(
        actors.tenant,
        recalled((settled) => ({ settled })),
      ),
    ).toBe(1)
    expect([run.context.signal.aborted, run.context.commit()]).toEqual([true, false])
    run.finish()
    await actors.runtime.ask(actors.tenant, bump('n'))
    expect([await countOf(actors.tenant, `settled:${ref}`), await workOf(actors.tenant)]).toEqual([
      undefined,
      [],
    ])
  })

  test('does not touch a lane past its point of no return', async () => {
    const lane = fakeLane()
    await using actors = await start({ lanes: [lane] })
    const ref = newId()
    await actors.runtime.ask(actors.tenant, addWork(workOn(ref)))
    const run = await lane.runOf(ref)
    expect(run.context.commit()).toBe(true)
    expect(
      await actors.runtime.ask(
        actors.tenant,
        recalled(() => ({})),
      ),
    ).toBe(0)
    expect(run.context.signal.aborted).toBe(false)
    run.finish()
    expect(await becomes(actors.tenant, `settled:${ref}`, 1)).toBe(1)
  })

  test('by a letter that is rolled back lets the lane report itself, and the work runs again', async () => {
    const lane = fakeLane()
    await using actors = await start({ lanes: [lane] })
    const { runtime, tenant } = actors
    const ref = newId()
    await runtime.ask(tenant, addWork(workOn(ref)))
    await lane.runOf(ref)
    const failing = recalled(() => ({ work: [{ ...workOn(newId()), lane: 'nowhere' }] }))
    await expect(runtime.ask(tenant, failing)).rejects.toThrow('violates check constraint')
    await eventually(
      async () => lane.started.length,
      (count) => count === 2,
    )
    ;(await lane.runOf(ref)).finish()
    expect(await becomes(tenant, `settled:${ref}`, 1)).toBe(1)
    expect(await countOf(tenant, `aborted:${ref}`)).toBe(1)
  })
})

describe('an outcome', () => {
  test('of an attempt that is no longer the current one is dropped', async () => {
    const lane = fakeLane()
    await using actors = await start({ lanes: [lane] })
    const ref = newId()
    const [tenant, work] = [actors.tenant, workOn(ref)]
    await actors.runtime.ask(tenant, addWork(work))
    const run = await lane.runOf(ref)
    await store.owner`update work set attempt = 7 where id = ${work.id}`
    run.finish()
    // What is left running without a lane is found by the next failure, or here by the next letter
    // that asks for it.
    await eventually(
      async () => lane.running.size,
      (size) => size === 0,
    )
    await actors.runtime.ask(tenant, bump('n'))
    expect(await workOf(tenant)).toMatchObject([{ attempt: 7, state: 'running' }])
    expect(await countOf(tenant, `settled:${ref}`)).toBeUndefined()
  })

  test('of work that has gone back to the queue is dropped, and the work runs again', async () => {
    const lane = fakeLane()
    await using actors = await start({ lanes: [lane] })
    const ref = newId()
    const [tenant, work] = [actors.tenant, workOn(ref)]
    await actors.runtime.ask(tenant, addWork(work))
    const run = await lane.runOf(ref)
    await actors.runtime.ask(tenant, bump('n', { requeued: [{ id: work.id, runAt: work.runAt }] }))
    run.finish('first')
    await eventually(
      async () => lane.started.length,
      (count) => count === 2,
    )
    expect(await workOf(tenant)).toMatchObject([{ attempt: 2 }])
    expect(await countOf(tenant, `settled:${ref}`)).toBeUndefined()
    ;(await lane.runOf(ref)).finish('second')
    expect(await becomes(tenant, `settled:${ref}`, 1)).toBe(1)
  })

  test('is delivered once, through failures of the database', async () => {
    const [lane, points] = [fakeLane(), testFailpoints()]
    await using actors = await start({ lanes: [lane], failpoints: points.at })
    const ref = newId()
    await actors.runtime.ask(actors.tenant, addWork(workOn(ref)))
    const run = await lane.runOf(ref)
    points.arm('letter.deciding', Object.assign(new Error('shutting down'), { code: '57P01' }))
    run.finish()
    await points.reached('letter.deciding')
    expect(await countOf(actors.tenant, `settled:${ref}`)).toBeUndefined()
    points.release('letter.deciding')
    expect(await becomes(actors.tenant, `settled:${ref}`, 1)).toBe(1)
    expect(await countOf(actors.tenant, `orphaned:${ref}`)).toBeUndefined()
  })
})

describe('a lane that fails', () => {
  test('with an outcome of its own is settled by it', async () => {
    const lane = fakeLane({ crashed: () => 'failed' })
    await using actors = await start({ lanes: [lane] })
    const ref = newId()
    await actors.runtime.ask(actors.tenant, addWork(workOn(ref)))
    ;(await lane.runOf(ref)).fail(new Error('no'))
    expect(await becomes(actors.tenant, `settled:${ref}`, 1)).toBe(1)
  })

  test('without one is settled by the rule of its kind, at once', async () => {
    const lane = fakeLane()
    await using actors = await start({ lanes: [lane] })
    const ref = newId()
    await actors.runtime.ask(actors.tenant, addWork(workOn(ref)))
    ;(await lane.runOf(ref)).fail(new Error('no'))
    expect(await becomes(actors.tenant, `orphaned:${ref}`, 1)).toBe(1)
    ;(await lane.runOf(ref)).finish()
    expect(await becomes(actors.tenant, `settled:${ref}`, 1)).toBe(1)
  })

  test('by throwing synchronously fails like any other', async () => {
    const lane = fakeLane({ crashed: () => 'failed' })
    lane.run = () => {
      throw new Error('at once')
    }
    await using actors = await start({ lanes: [lane] })
    const ref = newId()
    await actors.runtime.ask(actors.tenant, addWork(workOn(ref)))
    expect(await becomes(actors.tenant, `settled:${ref}`, 1)).toBe(1)
  })
})
