/** The range of times that the database supports; no record lies outside it. */
const TIMES = { first: 0, last: Date.UTC(9_999, 0) }

/** A time of an input, clamped to that range. */
export const clampTime = (time: string | Date | undefined): Date | undefined =>
  time === undefined
    ? undefined
    : new Date(Math.min(Math.max(new Date(time).getTime(), TIMES.first), TIMES.last))

/** The times of a list's filter. */
export const periodOf = ({
  from,
  to,
}: {
  from?: string | Date | undefined
  to?: string | Date | undefined
}) => ({
  from: clampTime(from),
  to: clampTime(to),
})
