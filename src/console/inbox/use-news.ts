/** Says once that somebody else has decided what is on the screen. */
import { useEffect, useRef } from 'react'
import { notify, type Toast } from '../frame/notices.ts'

/**
 * `isOpen`: whether it waits for a decision; undefined while that is not known. `news`: what to say
 * once it no longer does. The function that it returns says whether this tab is deciding.
 */
export const useNews = (
  isOpen: boolean | undefined,
  news: () => Pick<Toast, 'who' | 'says'>,
): ((deciding: boolean) => void) => {
  const before = useRef<boolean>(undefined)
  const isOurs = useRef(false)
  useEffect(() => {
    if (before.current && isOpen === false && !isOurs.current) notify({ ...news(), tone: 'care' })
    if (isOpen !== undefined) before.current = isOpen
  })
  return (deciding) => {
    isOurs.current = deciding
  }
}
