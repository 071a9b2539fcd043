/** What the workspace is, for whom it writes, and how: the material every draft is made from. */
export interface Profile {
  goal: string
  audience: string
  voice: string
  /** BCP 47 language tag. */
  language: string
  /** IANA time zone name. */
  time_zone: string
  /** What happens to a scheduled post found overdue: posted if less than an hour late, or skipped back to approved. */
  on_missed: OnMissed
  writing_dna: WritingDna
}

export interface WritingDna {
  voice_rules: string[]
  stories: string[]
  proof: string[]
  patterns: string[]
  /** Phrases to use. */
  use: string[]
  /** Phrases that no draft may contain. */
  avoid: string[]
}

export type OnMissed = 'post' | 'skip'

export type ProfilePatch = Partial<Omit<Profile, 'writing_dna'>> & { writing_dna?: Partial<WritingDna> }

export const emptyProfile: Profile = {
  goal: '',
  audience: '',
  voice: '',
  language: 'en',
  time_zone: 'UTC',
  on_missed: 'post',
  writing_dna: { voice_rules: [], stories: [], proof: [], patterns: [], use: [], avoid: [] },
}

/** A partial update: fields that are absent stay; a list that is given replaces the whole list. */
export const updateProfile = (profile: Profile, patch: ProfilePatch): Profile => ({
  ...profile,
  ...patch,
  writing_dna: { ...profile.writing_dna, ...patch.writing_dna },
})
