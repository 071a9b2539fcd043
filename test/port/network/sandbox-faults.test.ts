import { describe, expect, test } from 'bun:test'
import { type Draw, drawsOf, parseFaults } from '#port/network/sandbox/faults'

const FULL = '500=0.05,429=0.03,slow=0.04,applied502=0.08,drop=0.05,lag=2s;seed=7'

const take = (spec: string, count: number): Draw[] => {
  const draw = drawsOf(parseFaults(spec))
  return Array.from({ length: count }, draw)
}

describe('parsing a specification', () => {
  test('reads every part', () => {
    expect(parseFaults(FULL)).toEqual({
      rates: { 500: 0.05, 429: 0.03, slow: 0.04, applied502: 0.08, drop: 0.05 },
      lagMs: 2_000,
      seed: 7,
    })
  })

  test('of nothing means no faults', () => {
    expect(parseFaults('')).toEqual({
      rates: { 500: 0, 429: 0, slow: 0, applied502: 0, drop: 0 },
      lagMs: 0,
      seed: 0,
    })
  })

  test('ignores order, separators and spaces', () => {
    expect(
      parseFaults(' seed=7 ; lag=2000ms, drop=.05;applied502=0.08,slow=0.04,429=0.03 , 500=0.05,'),
    ).toEqual(parseFaults(FULL))
  })

  test('allows probabilities that add up to exactly one, whatever floating point makes of their sum', () => {
    expect(parseFaults('500=0.7,429=0.1,slow=0.1,applied502=0.1').rates[500]).toBe(0.7)
  })

  test.each([
    ['501=0.1', 'unknown name "501"; known are 500, 429, slow, applied502, drop, lag and seed'],
    ['constructor=0.1', 'unknown name "constructor"'],
    ['500', '"500" is not of the form name=value'],
    ['500=', '"500=" is not of the form name=value'],
    ['500=0.1 0.2', '"500=0.1 0.2" is not of the form name=value'],
    ['500=1.5', '500 is a probability from 0 to 1, not "1.5"'],
    ['drop=-0.1', 'drop is a probability from 0 to 1, not "-0.1"'],
    ['drop=often', 'drop is a probability from 0 to 1, not "often"'],
    ['slow=1e-3', 'slow is a probability from 0 to 1, not "1e-3"'],
    ['500=0.6,drop=0.6', 'the probabilities add up to 1.2, more than 1'],
    ['lag=2', 'lag is a time such as 2s or 500ms, not "2"'],
    ['lag=-1s', 'lag is a time such as 2s or 500ms, not "-1s"'],
    ['seed=x', 'seed is an integer from 0 to 4294967295, not "x"'],
    ['seed=4294967296', 'seed is an integer from 0 to 4294967295, not "4294967296"'],
    ['500=0.1,500=0.2', '500 must not be given twice'],
  ])('%s is refused with the reason', (spec, message) => {
    expect(() => parseFaults(spec)).toThrow(`SANDBOX_FAULTS: ${message}`)
  })
})

describe('drawing', () => {
  test('equal settings give equal sequences, in whatever order they are written', () => {
    expect(take(FULL, 500)).toEqual(
      take('seed=7;drop=0.05,applied502=0.08,slow=0.04,429=0.03,500=0.05', 500),
    )
  })

  test('another seed gives another sequence', () => {
    expect(take(FULL, 100)).not.toEqual(take(FULL.replace('seed=7', 'seed=8'), 100))
  })

  test('without probabilities no fault is drawn, and with a sum of one nothing else', () => {
    expect(take('seed=3', 1_000).every(({ fault }) => fault === 'none')).toBe(true)
    expect(take('500=0.5,drop=0.5', 1_000).some(({ fault }) => fault === 'none')).toBe(false)
  })

  test('each fault is as frequent as specified', () => {
    const count = 100_000
    const draws = take(FULL, count)
    for (const [fault, rate] of Object.entries({ ...parseFaults(FULL).rates, none: 0.75 }))
      expect(draws.filter((drawn) => drawn.fault === fault).length / count).toBeCloseTo(rate, 2)
  })

  test('slow posts are 1 to 3 seconds late, over the whole range', () => {
    const late = take('slow=0.3;seed=1', 5_000).flatMap(({ fault, lateMs }) =>
      fault === 'slow' ? [lateMs] : [],
    )
    expect(Math.min(...late)).toBeWithin(1_000, 1_050)
    expect(Math.max(...late)).toBeWithin(2_950, 3_000)
  })
})
