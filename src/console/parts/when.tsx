/** Times in the zone of the profile; the viewer's own and UTC are one hover or focus away. */
import { boot } from '../boot.ts'

/** Making one takes longer than all that it ever formats. */
const formatters = new Map<string, Intl.DateTimeFormat>()

const formatted = (at: string, zone: string, options: Intl.DateTimeFormatOptions): string => {
  const name = `${JSON.stringify(options)} ${zone}`
  const known = formatters.get(name)
  const formatter = known ?? new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options })
  if (!known) formatters.set(name, formatter)
  return formatter.format(new Date(at))
}

const DAY: Intl.DateTimeFormatOptions = { weekday: 'short', day: 'numeric', month: 'short' }
const CLOCK: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hour12: false }

/** `08:30`. */
export const clockOf = (at: string, zone = boot.time_zone): string => formatted(at, zone, CLOCK)

/** `Mon 23 Nov`. */
export const weekdayOf = (at: string, zone = boot.time_zone): string =>
  formatted(at, zone, DAY).replace(',', '')

/** `Mon 23 Nov, 08:30`. */
export const whenOf = (at: string, zone = boot.time_zone): string =>
  `${weekdayOf(at, zone)}, ${clockOf(at, zone)}`

const WEEK_MS = 7 * 24 * 3_600_000

/** Words of a button: a phone leaves out the date of a day within the next week. */
export const SlotWords = ({ at }: { at: string }) => {
  const [weekday, ...date] = weekdayOf(at).split(' ')
  const isNear = Date.parse(at) - Date.now() < WEEK_MS - 24 * 3_600_000
  return (
    <>
      {weekday} <span className={isNear ? 'on-desk' : undefined}>{date.join(' ')}, </span>
      {clockOf(at)}
    </>
  )
}

const own = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The same moment for the viewer and in UTC. */
export const otherZonesOf = (at: string): string =>
  [
    ...(own === boot.time_zone ? [] : [`${whenOf(at, own)} for you (${own})`]),
    `${whenOf(at, 'UTC')} UTC`,
  ].join(' · ')

const YEAR: Intl.DateTimeFormatOptions = { year: 'numeric' }
const yearOf = (at: string): string => formatted(at, boot.time_zone, YEAR)

/** `Mon 23 Nov, 08:30`; of another year `Mon 23 Nov 2025, 08:30`. */
const withYear = (at: string): string =>
  yearOf(at) === yearOf(new Date().toISOString())
    ? whenOf(at)
    : `${weekdayOf(at)} ${yearOf(at)}, ${clockOf(at)}`

export const When = ({ at, clock = false }: { at: string; clock?: boolean }) => (
  <time dateTime={at} title={otherZonesOf(at)}>
    {clock ? clockOf(at) : withYear(at)}
  </time>
)
