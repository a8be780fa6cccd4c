window.DEPARTURES = [];
