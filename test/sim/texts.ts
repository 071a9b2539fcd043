const STEM = 'Eleven of fourteen delays started at the dock'
const texts = [
  `${STEM}, and nobody had counted them until we drove the vans ourselves.`,
  `${STEM}, so we rebuilt the timetable around the dock and not the road.`,
  'Ship it. https://example.com/notes',
] as const

/** What the items say: two of one text, and one that begins like them. */
export const bodies = [texts[0], texts[1], texts[0], texts[2]] as const
