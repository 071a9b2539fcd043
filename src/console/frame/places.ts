/** The places of the rail and of the bottom bar. */
import type { IconName } from '../parts/icons.tsx'
import { hrefOf } from '../router/paths.ts'

export interface RailPlace {
  /** As `pages.tsx` names the page. */
  page: string
  says: string
  icon: IconName
  href: string
}

export const railPlaces: RailPlace[] = [
  { page: 'inbox', says: 'Inbox', icon: 'inbox', href: hrefOf('inbox', {}) },
  { page: 'settings', says: 'Settings', icon: 'settings', href: hrefOf('settings', {}) },
]
