/** The pages of the settings, in the order of their list. */
import type { ComponentType } from 'react'
import { BrowserSettings } from './browser.tsx'

export interface SettingsEntry {
  /** Its last part of the address. */
  page: string
  says: string
  Show: ComponentType
}

export const settingsPages: SettingsEntry[] = [
  { page: 'browser', says: 'This browser', Show: BrowserSettings },
]
