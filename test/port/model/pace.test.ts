import { describe, expect, test } from 'bun:test'
import { atOnce, createPace, type Steps } from '#port/model/pace'

const never = new AbortController().signal

function* counting(to: number, each: (count: number) => void = () => {}): Steps<number> {
  for (let count = 1; count <= to; count += 1) {
    each(count)
    yield
  }
  return to
}

describe('work in slices', () => {
  test('the event loop turns after each slice', async () => {
    let turns = 0
    let going = true
    const turn = () => {
      turns += 1
      if (going) setImmediate(turn)
    }
    setImmediate(turn)
    const seen: number[] = []
    expect(
      await createPace(0).run(
        counting(5, () => seen.push(turns)),
        never,
      ),
    ).toBe(5)
    going = false
    expect(new Set(seen).size).toBe(5)
  })

  test('a slice holds as many steps as it has time for', async () => {
    let turned = false
    const work = counting(1_000, (count) => {
      if (count === 1)
        setImmediate(() => {
          turned = true
        })
      expect(turned).toBeFalse()
    })
    expect(await createPace(Number.POSITIVE_INFINITY).run(work, never)).toBe(1_000)
  })

  test('one pace gives its works turns, one a turn of the event loop', async () => {
    const pace = createPace(0)
    const order: string[] = []
    await Promise.all(
      ['a', 'b'].map((name) =>
        pace.run(
          counting(3, (count) => order.push(`${name}${count}`)),
          never,
        ),
      ),
    )
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
  })

  test('an abort ends the work before its next slice, with the reason', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    let last = 0
    const work = counting(10, (count) => {
      last = count
      if (count === 3) controller.abort(reason)
    })
    await expect(createPace(0).run(work, controller.signal)).rejects.toBe(reason)
    expect(last).toBe(3)
  })

  test('work that throws ends with what it threw, and other work goes on', async () => {
    const pace = createPace(0)
    const failing = pace.run(
      counting(3, () => {
        throw new RangeError('no')
      }),
      never,
    )
    const other = pace.run(counting(3), never)
    await expect(failing).rejects.toBeInstanceOf(RangeError)
    expect(await other).toBe(3)
  })
})

test('work at once returns the same', () => expect(atOnce(counting(4))).toBe(4))
