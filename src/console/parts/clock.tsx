/** Time that passes on the screen. */
import { useEffect, useState } from 'react'

const MINUTE_MS = 60_000
const [HOUR, DAY] = [60, 24 * 60]

/** The present time in milliseconds, again each `everyMs`. */
export const useNow = (everyMs = MINUTE_MS / 2): number => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** `5 h 12 min`, rounded down; `less than a minute`. */
export const spanText = (ms: number): string => {
  const minutes = Math.floor(ms / MINUTE_MS)
  if (minutes < 1) return 'less than a minute'
  if (minutes < HOUR) return `${minutes} min`
  const [days, hours] = [Math.floor(minutes / DAY), Math.floor((minutes % DAY) / HOUR)]
  if (days > 1) return `${days} days`
  return days === 1 ? `1 day ${hours} h` : `${hours} h ${minutes % HOUR} min`
}
