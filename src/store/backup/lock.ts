/** One backup or restore of a database runs at a time, of whatever kind. Any constant will do. */
export const BACKUP_LOCK = 7_164_014
